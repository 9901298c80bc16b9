// Breaks text for a terminal at blanks.
//
//    out += fmt::format("  {:<20}{}\n", name, Wrapped(text, {.width = 80, .indent = 22}));
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pa {

struct WrapOptions {
  std::size_t width = 0;   // columns of a line; 0: lines are not broken
  std::size_t indent = 0;  // columns before each line; the first line's stand there already
};

// `text`: UTF-8 of one or several lines, with columns as ColumnsOf counts them. A word that is
// wider than a line has a line of its own.
std::string Wrapped(std::string_view text, const WrapOptions& options);

// Columns and lines of the terminal that `fd` is; 0 if it is none.
std::size_t TerminalWidth(int fd);
std::size_t TerminalHeight(int fd);

}  // namespace pa
