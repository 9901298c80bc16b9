// LineReader: bytes in, lines out, within a limit.
//
//   LineReader reader(16u << 20);
//   reader.Append(chunk);
//   while (auto line = reader.Next()) handler.OnLine(line->text);
//
// Lines are pulled, so that whoever must wait (a client that does not read replies) leaves them
// here. Lines end with LF or CRLF; lines of nothing but blanks are skipped. A line over the limit
// is looked at as it passes, for who waits for an answer to it, and dropped; its outlines are
// reported at its end. So is one for which there is no memory. Memory stays within twice the limit
// and one chunk.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/transport/outline_scanner.h"

namespace pa {

class LineReader {
 public:
  struct Line {
    std::string_view text;                    // valid until the next Append
    bool too_long = false;                    // then text is empty
    bool no_memory = false;                   // too long for the memory that there is
    std::vector<rpc::Outline> outlines = {};  // of one that was too long
  };

  explicit LineReader(std::size_t limit) : limit_(limit), scanner_(limit) {}

  void Append(std::string_view bytes);
  std::optional<Line> Next();
  // The input has ended: what stands after the last newline is a line, too.
  void End();

  std::size_t limit() const { return limit_; }

 private:
  void Drop(std::size_t end);

  std::size_t limit_;
  std::string buffer_;
  std::size_t start_ = 0;    // of the line that is being read
  std::size_t scanned_ = 0;  // no newline between start_ and here
  bool too_long_ = false;    // the line that is being read; its beginning was dropped
  bool no_memory_ = false;   // because of that
  OutlineScanner scanner_;   // sees what is dropped
};

}  // namespace pa
