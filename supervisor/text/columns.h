// The columns of a terminal that text takes, and text cut to them.
//
//    out += Padded(FirstColumns(name, 12), 12);      // `makefile_ge\u2026`
//
// `text`: UTF-8. Ideographs and emoji take two columns, colours (ESC [ ... m) none, all others one:
// marks that combine are counted, so that what is shown is rather too narrow than too wide.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pa {

std::size_t ColumnsOf(std::string_view text);

// At most `columns` columns of the beginning or the end; what is left out is an ellipsis.
std::string FirstColumns(std::string_view text, std::size_t columns);
std::string LastColumns(std::string_view text, std::size_t columns);

// With blanks after it.
std::string Padded(std::string text, std::size_t columns);

}  // namespace pa
