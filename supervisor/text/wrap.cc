#include "supervisor/text/wrap.h"

#include <sys/ioctl.h>

#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

// Colours (ESC [ ... m) take no column.
std::size_t ColumnsOf(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const std::size_t colour = text.starts_with("\x1b[") ? text.find('m') : text.npos;
    if (colour == text.npos && !IsUtf8Continuation(text.front())) ++columns;
    text.remove_prefix(colour == text.npos ? 1 : colour + 1);
  }
  return columns;
}

}  // namespace

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

}  // namespace pa
