#include "supervisor/cli/terminal_view.h"

#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/utf8.h"

namespace pa {
namespace {

bool ColoursWanted(bool terminal) {
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org
  return terminal && (no_color == nullptr || *no_color == '\0');
}

}  // namespace

TerminalView::TerminalView(int out, int err) : out_(SideOf(out)), err_(SideOf(err)) {}

TerminalView::Side TerminalView::SideOf(int fd) {
  const bool terminal = isatty(fd) == 1;
  using enum EscapeFilter::Keep;
  const EscapeFilter::Keep keep = ColoursWanted(terminal) ? kColours : terminal ? kText : kBytes;
  return {.fd = fd, .terminal = terminal, .filter = EscapeFilter(keep)};
}

void TerminalView::OnOutput(Stream stream, std::string_view bytes) {
  saw_output_ = true;
  Side& side = stream == Stream::kStdout ? out_ : err_;
  Write(side, side.filter.Filter(bytes));
}

void TerminalView::Note(std::string_view line, bool failed) {
  const std::string text = RepairUtf8(line, true);
  const bool broken_line = out_.terminal && err_.terminal && !(out_.at_line_start);
  if (broken_line || !err_.at_line_start) Write(err_, "\n");
  if (ColoursWanted(err_.terminal)) {
    // Reset first: the command may have left a colour behind.
    Write(err_, std::string("\x1b[0m") + (failed ? "\x1b[31m" : "\x1b[2m") + text + "\x1b[0m\n");
  } else {
    Write(err_, text + "\n");
  }
}

void TerminalView::Write(Side& side, std::string_view bytes) {
  if (bytes.empty()) return;
  side.at_line_start = bytes.back() == '\n';
  // A reader that went away does not end the call: the command is not ours to cut short.
  (void)WriteAll(side.fd, bytes);
}

}  // namespace pa
