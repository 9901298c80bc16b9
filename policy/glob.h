// GlobMatch: `*` matches any text, `?` one character, and every other character itself. The pattern
// has to match the whole of `text`.
#pragma once

#include <string_view>

namespace pa::policy {

bool GlobMatch(std::string_view pattern, std::string_view text);

}  // namespace pa::policy
