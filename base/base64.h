// Base64 (RFC 4648), implemented by nettle.
//
//    std::string text = ToBase64(bytes);
//    std::optional<std::string> bytes = FromBase64(text);   // nothing: it is not Base64
//
// With padding, and in the alphabet with `+` and `/`. The one for URLs, with `-` and `_` (RFC 4648,
// 5), has no padding (RFC 7515, 2).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pa {

std::string ToBase64(std::string_view bytes);
// Nothing if `text` is not Base64.
std::optional<std::string> FromBase64(std::string_view text);
// The same of the alphabet for URLs. Each value has one text alone: bits behind the last byte are
// 0.
std::optional<std::string> FromBase64Url(std::string_view text);

}  // namespace pa
