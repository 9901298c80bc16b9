// Base64 (RFC 4648), implemented by nettle.
//
//    std::string text = ToBase64(bytes);
//    std::optional<std::string> bytes = FromBase64(text);   // nothing: it is not Base64
//
// With padding, and in the alphabet with `+` and `/`; not the one for URLs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pa {

std::string ToBase64(std::string_view bytes);
// Nothing if `text` is not Base64.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace pa
