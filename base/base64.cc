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

// Not by nettle, which passes over blanks and does without the end of a text.
std::optional<std::string> FromBase64Url(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;  // of `bits` that belong to no byte yet
  for (const char c : text) {
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xfff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  if (count == 6 || (bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace pa
