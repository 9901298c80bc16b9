// LineEndCounter: how the lines of a text end, as its bytes come.
//
//    LineEndCounter counter;
//    counter.Feed(bytes);
//    if (counter.ends() == LineEnds::kCrLf) content = WithCrLf(content);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pa {

enum class LineEnds { kNone, kLf, kCrLf, kMixed };

class LineEndCounter {
 public:
  void Feed(std::string_view bytes);
  LineEnds ends() const;

 private:
  bool cr_ = false;  // the last byte
  std::uint64_t lf_ = 0, crlf_ = 0;
};

LineEnds LineEndsOf(std::string_view text);

// `text`, whose lines end in \n, with \r\n.
std::string WithCrLf(std::string_view text);

// `\n`, `\r\n`, `\n and \r\n`; "" for kNone.
std::string_view LineEndsName(LineEnds ends);

}  // namespace pa
