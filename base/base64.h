// Base64 (RFC 4648), implemented by nettle.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pa {

std::string ToBase64(std::string_view bytes);
// Nothing if `text` is not Base64.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace pa
