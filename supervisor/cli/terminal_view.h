// TerminalView: shows a command's output as it arrives, for `project-actions call`.
//
//    TerminalView view(STDOUT_FILENO, STDERR_FILENO);   // an OutputSink: RunOptions::sink
//    view.Note("make test: exit status 2", true);
//
// A command's output is hostile to a terminal: escape sequences can change its title, move the
// cursor over earlier lines or answer queries. To a terminal only colours (SGR) pass; to a pipe or
// file every byte passes unchanged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/run/output_sink.h"

namespace pa {

// Drops all control characters except newline, tab and carriage return, and all escape sequences
// except SGR (ECMA-48 8.3.117). Keeps its state between chunks.
class TerminalFilter {
 public:
  std::string Filter(std::string_view bytes);

 private:
  enum class State : std::uint8_t { kText, kEscape, kControlSequence, kString, kStringEscape, kC2 };
  void Step(unsigned char byte, std::string* out);
  void StepText(unsigned char byte, std::string* out);
  void StepControlSequence(unsigned char byte, std::string* out);

  State state_ = State::kText;
  std::string sequence_;
};

class TerminalView : public OutputSink {
 public:
  // `out` and `err`: borrowed. Whether they are terminals is asked once.
  TerminalView(int out, int err);

  void OnOutput(Stream stream, std::string_view bytes) override;
  bool saw_output() const { return saw_output_; }

  // Prints one line about the call, dim, or red if it failed; to `err`, so that `out` holds only
  // output.
  void Note(std::string_view line, bool failed);

 private:
  struct Side {
    int fd;
    bool terminal;
    bool at_line_start = true;
    TerminalFilter filter;
  };
  void Write(Side& side, std::string_view bytes);

  Side out_;
  Side err_;
  bool saw_output_ = false;
};

}  // namespace pa
