// GlobMatch: `*` for any text, `?` for one character, everything else for itself. Over the whole
// name.
#pragma once

#include <string_view>

namespace pa::policy {

bool GlobMatch(std::string_view pattern, std::string_view text);

}  // namespace pa::policy
