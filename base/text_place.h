// Positions in a text, for people.
//
//    const LineAndColumn place = PlaceOf(text, problem.at);      // 3, 8
#pragma once

#include <cstddef>
#include <string_view>

namespace pa {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct LineAndColumn {
  std::size_t line = 1, column = 1;  // in characters, as editors count them
};

// The place `after` the text that begins at `from`.
LineAndColumn Advanced(LineAndColumn from, std::string_view after);

// Of the byte `at`; past the end it is the end. A byte order mark has no column.
LineAndColumn PlaceOf(std::string_view text, std::size_t at);

// The byte at `place`; beyond the end it is the end. `text`: without a byte order mark.
std::size_t OffsetOf(std::string_view text, LineAndColumn place);

}  // namespace pa
