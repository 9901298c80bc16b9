// Utf16Decoder: converts UTF-16 (RFC 2781) to UTF-8, piece by piece.
//
//    Utf16Decoder decoder(Utf16Decoder::kLittleEndian);
//    text += decoder.Feed(bytes); text += decoder.Feed(more); text += decoder.End();
//
// Input that is not UTF-16 (half a pair, an odd byte at the end) becomes U+FFFD, and valid()
// becomes false.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pa {

// The two halves of a pair, which stands for one character beyond U+FFFF.
constexpr bool IsHighSurrogate(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
constexpr bool IsLowSurrogate(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

class Utf16Decoder {
 public:
  enum ByteOrder { kLittleEndian, kBigEndian };
  explicit Utf16Decoder(ByteOrder order) : order_(order) {}

  std::string Feed(std::string_view bytes);
  std::string End();
  bool valid() const { return valid_; }

 private:
  void Unit(std::uint16_t unit, std::string& out);
  void Replace(std::string& out);

  ByteOrder order_;
  int odd_ = -1;            // the first byte of a unit whose second byte has not arrived
  std::uint16_t high_ = 0;  // the first half of a pair; 0 = none
  bool valid_ = true;
};

}  // namespace pa
