// TerminalView: shows a command's output as it arrives, for `project-actions call`.
//
//    TerminalView view(STDOUT_FILENO, STDERR_FILENO);   // an OutputSink: RunOptions::sink
//    view.Note("make test: exit status 2", true);
//
// A command's output is hostile to a terminal: escape sequences can change its title, move the
// cursor over earlier lines or answer queries. To a terminal only colours (SGR) pass; to a pipe or
// file every byte that belongs to no escape sequence.
#pragma once

#include <string_view>

#include "supervisor/run/output_sink.h"
#include "supervisor/text/escape_filter.h"

namespace pa {

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
    EscapeFilter filter;
  };
  static Side SideOf(int fd);
  void Write(Side& side, std::string_view bytes);

  Side out_;
  Side err_;
  bool saw_output_ = false;
};

}  // namespace pa
