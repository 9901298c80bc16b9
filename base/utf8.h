// UTF-8 as Unicode 15 table 3-7 defines it: validation and repair of bytes from the outside.
//
//    if (!IsValidUtf8(bytes)) text = RepairUtf8(bytes);
//    const std::string_view shown = Utf8Prefix(text, 80);   // 80 characters, not bytes
//
// To cut at a number of bytes: supervisor/text/text_cut.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pa {

bool IsValidUtf8(std::string_view bytes);

// Length of the well-formed sequence at the start of `bytes` (1 to 4), or 0 if there is none; then
// `*invalid` is how many bytes one U+FFFD stands for (a maximal subpart, at least 1).
std::size_t Utf8SequenceLength(std::string_view bytes, std::size_t* invalid);

// `bytes` with U+FFFD in place of what is not UTF-8. With `one_line`, control characters below 0x20
// other than tab become '?'.
std::string RepairUtf8(std::string_view bytes, bool one_line = false);

// The longest prefix of at most `max_characters` code points. `bytes` must be valid UTF-8.
std::string_view Utf8Prefix(std::string_view bytes, std::size_t max_characters);

// Of one well-formed sequence.
std::uint32_t CodePointOf(std::string_view sequence);

// `code_point` must not be a surrogate.
void AppendUtf8(std::uint32_t code_point, std::string& out);

}  // namespace pa
