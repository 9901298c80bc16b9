// AppendDecomposed: a character as NFD writes it, so that texts can be compared whose letters with
// accents are composed (NFC, as most keyboards write them) or not (NFD, as macOS names files).
//
//    std::u32string form;
//    AppendDecomposed(U'\u00e9', form);      // e, U+0301
//
// It knows Latin, Greek, Cyrillic, kana and Hangul. It does not put marks into their canonical
// order: what NFC composes has them in that order.
#pragma once

#include <string>

namespace pa {

void AppendDecomposed(char32_t point, std::u32string& out);

}  // namespace pa
