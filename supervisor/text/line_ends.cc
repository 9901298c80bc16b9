#include "supervisor/text/line_ends.h"

namespace pa {

void LineEndCounter::Feed(std::string_view bytes) {
  std::size_t from = 0;
  for (std::size_t at = bytes.find('\n'); at != std::string_view::npos;
       at = bytes.find('\n', from)) {
    const bool cr = at == 0 ? cr_ : bytes[at - 1] == '\r';
    ++(cr ? crlf_ : lf_);
    from = at + 1;
  }
  if (!bytes.empty()) cr_ = bytes.back() == '\r';
}

LineEnds LineEndCounter::ends() const {
  if (lf_ > 0) return crlf_ > 0 ? LineEnds::kMixed : LineEnds::kLf;
  return crlf_ > 0 ? LineEnds::kCrLf : LineEnds::kNone;
}

LineEnds LineEndsOf(std::string_view text) {
  LineEndCounter counter;
  counter.Feed(text);
  return counter.ends();
}

std::string WithCrLf(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  for (const char c : text) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

std::string_view LineEndsName(LineEnds ends) {
  switch (ends) {
    case LineEnds::kNone:
      return "";
    case LineEnds::kLf:
      return "\\n";
    case LineEnds::kCrLf:
      return "\\r\\n";
    case LineEnds::kMixed:
      return "\\n and \\r\\n";
  }
  return "";
}

}  // namespace pa
