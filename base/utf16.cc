#include "base/utf16.h"

#include "base/utf8.h"

namespace pa {

std::string Utf16Decoder::Feed(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (odd_ < 0) {
      odd_ = byte;
      continue;
    }
    const int high = order_ == kBigEndian ? odd_ : byte;
    const int low = order_ == kBigEndian ? byte : odd_;
    odd_ = -1;
    Unit(static_cast<std::uint16_t>(high << 8 | low), out);
  }
  return out;
}

std::string Utf16Decoder::End() {
  std::string out;
  if (high_ != 0 || odd_ >= 0) Replace(out);
  high_ = 0;
  odd_ = -1;
  return out;
}

void Utf16Decoder::Unit(std::uint16_t unit, std::string& out) {
  if (high_ != 0 && IsLowSurrogate(unit)) {
    AppendUtf8(0x10000 + ((high_ & 0x3FFu) << 10 | (unit & 0x3FFu)), out);
    high_ = 0;
    return;
  }
  if (high_ != 0) Replace(out);
  high_ = IsHighSurrogate(unit) ? unit : 0;
  if (high_ != 0) return;
  if (IsLowSurrogate(unit)) return Replace(out);
  AppendUtf8(unit, out);
}

void Utf16Decoder::Replace(std::string& out) {
  valid_ = false;
  AppendUtf8(0xFFFD, out);
}

}  // namespace pa
