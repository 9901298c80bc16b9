#include "supervisor/text/wrap.h"

#include <sys/ioctl.h>

#include "supervisor/text/columns.h"

namespace pa {
std::string Wrapped(std::string_view text, const WrapOptions& options) {
  const std::string indent(options.indent, ' ');
  std::string out;
  std::size_t column = options.indent;
  bool begins_line = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    const std::size_t columns = ColumnsOf(word);
    if (!begins_line && options.width > 0 && column + 1 + columns > options.width) {
      out += "\n" + indent;
      column = options.indent;
      begins_line = true;
    }
    if (!begins_line) out += ' ';
    out += word;
    column += columns + (begins_line ? 0 : 1);
    begins_line = false;
    text.remove_prefix(word.size());
    if (text.starts_with('\n')) {
      out += "\n";
      if (text.size() > 1) out += indent;
      column = options.indent;
      begins_line = true;
    }
    if (!text.empty()) text.remove_prefix(1);
  }
  return out;
}

std::size_t TerminalWidth(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::size_t TerminalHeight(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

}  // namespace pa
