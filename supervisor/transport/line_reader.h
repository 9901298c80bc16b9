// LineReader: splits bytes into lines of limited length.
//
//    LineReader reader(16u << 20);
//    reader.Append(chunk);
//    while (auto line = reader.Next()) handler.OnLine(line->text);
//
// Lines are pulled: a caller that has to wait, because its client does not read replies, leaves
// them here. Lines end with LF or CRLF; blank lines are skipped. A line over the limit is dropped,
// and so is a line for which there is no memory. As it passes, it is scanned for messages that
// expect an answer, and their outlines are returned at its end. Memory stays within twice the limit
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
    bool too_long = false;                    // the line was dropped; text is empty
    bool no_memory = false;                   // it was dropped because memory was lacking
    std::vector<rpc::Outline> outlines = {};  // of a dropped line
  };

  explicit LineReader(std::size_t limit) : limit_(limit), scanner_(limit) {}

  void Append(std::string_view bytes);
  std::optional<Line> Next();
  // Call it at the end of the input: bytes after the last newline are a line, too.
  void End();

  std::size_t limit() const { return limit_; }

 private:
  void Drop(std::size_t end);

  std::size_t limit_;
  std::string buffer_;
  std::size_t start_ = 0;    // of the present line
  std::size_t scanned_ = 0;  // no newline between start_ and here
  bool too_long_ = false;    // the beginning of the present line was dropped
  bool no_memory_ = false;   // that is why
  OutlineScanner scanner_;   // scans the dropped bytes
};

}  // namespace pa
