// Base64 (RFC 4648), by nettle.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pa {

std::string ToBase64(std::string_view bytes);
// Nothing where `text` is none.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace pa
