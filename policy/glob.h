// GlobMatch: `*` matches any text, `?` one character, and every other character itself. The pattern
// has to match the whole of `text`.
//
//    GlobMatch("test-*", "test-unit")   // true
//    GlobMatch("*.c", "src/a.c")        // true: a slash is a character like any other
//
// Not for paths by components (`**`), which policy/rules.h knows, nor for files on the disk.
#pragma once

#include <string_view>

namespace pa::policy {

bool GlobMatch(std::string_view pattern, std::string_view text);

}  // namespace pa::policy
