#include "base/base64.h"

#include <nettle/base64.h>

#include <cstdint>

namespace pa {

std::string ToBase64(std::string_view bytes) {
  std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes
  const auto* in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  base64_encode_raw(text.data(), bytes.size(), in);
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  std::string bytes(BASE64_DECODE_LENGTH(text.size()), '\0');
  std::size_t size = bytes.size();
  base64_decode_ctx context;
  base64_decode_init(&context);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes
  auto* out = reinterpret_cast<std::uint8_t*>(bytes.data());
  const bool valid = base64_decode_update(&context, &size, out, text.size(), text.data()) == 1;
  if (!valid || base64_decode_final(&context) != 1) return std::nullopt;
  bytes.resize(size);
  return bytes;
}

}  // namespace pa
