// Text of others as a terminal may show it: nothing in it moves the cursor, hides a part or changes
// the direction of writing.
//
//    fmt::print("{}\n", VisibleText(path));      // a\u{1b}[2J
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pa {

// Beyond ASCII: shows nothing, or changes how the rest is shown.
bool IsInvisible(std::uint32_t code_point);

// On one line: characters that are invisible, move the cursor or change the direction of writing
// are escaped, as `\u{202e}`; an end of a line is `\n`.
std::string VisibleText(std::string_view text);

// `json`: one valid value. The same value, with such characters as JSON escapes them.
std::string VisibleJson(std::string_view json);

}  // namespace pa
