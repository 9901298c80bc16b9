#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace pa {
namespace {

// What table 3-7 says of a lead byte: the length, and the range of the second byte. All later bytes
// are 80..BF.
struct Lead {
  std::size_t length = 0;  // 0: no sequence begins with this byte
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

Lead Classify(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte >= 0xC2 && byte <= 0xDF) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};  // no overlong forms
  if (byte == 0xED) return {3, 0x80, 0x9F};  // no surrogates
  if (byte >= 0xE1 && byte <= 0xEF) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};  // nothing above U+10FFFF
  return {};
}

bool EightAscii(const char* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return (word & 0x8080808080808080u) == 0;
}

}  // namespace

std::size_t Utf8SequenceLength(std::string_view bytes, std::size_t* invalid) {
  *invalid = 1;
  if (bytes.empty()) return 0;
  const Lead lead = Classify(static_cast<unsigned char>(bytes[0]));
  for (std::size_t i = 1; i < lead.length; ++i) {
    const auto byte = static_cast<unsigned char>(i < bytes.size() ? bytes[i] : 0);
    const bool fits = i == 1 ? byte >= lead.low && byte <= lead.high : (byte & 0xC0) == 0x80;
    if (!fits) {
      *invalid = i;
      return 0;
    }
  }
  return lead.length;
}

bool IsValidUtf8(std::string_view bytes) {
  std::size_t invalid = 0;
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (bytes.size() - at >= 8 && EightAscii(bytes.data() + at)) {
      at += 8;
      continue;
    }
    const std::size_t length = Utf8SequenceLength(bytes.substr(at), &invalid);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string RepairUtf8(std::string_view bytes, bool one_line) {
  if (!one_line && IsValidUtf8(bytes)) return std::string(bytes);
  std::string repaired;
  repaired.reserve(bytes.size());
  while (!bytes.empty()) {
    std::size_t invalid = 0;
    const std::size_t length = Utf8SequenceLength(bytes, &invalid);
    if (length == 0) {
      repaired += "\xEF\xBF\xBD";
      bytes.remove_prefix(invalid);
      continue;
    }
    const bool control = length == 1 && static_cast<unsigned char>(bytes[0]) < 0x20;
    if (one_line && control && bytes[0] != '\t') {
      repaired += '?';
    } else {
      repaired += bytes.substr(0, length);
    }
    bytes.remove_prefix(length);
  }
  return repaired;
}

std::string_view Utf8Prefix(std::string_view bytes, std::size_t max_characters) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(bytes[i]) & 0xC0) != 0x80;
    if (starts && ++characters > max_characters) return bytes.substr(0, i);
  }
  return bytes;
}

std::uint32_t CodePointOf(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  std::uint32_t point = sequence.size() == 1 ? lead : lead & (0x7fU >> sequence.size());
  for (const char c : sequence.substr(1))
    point = point << 6 | (static_cast<unsigned char>(c) & 63U);
  return point;
}

void AppendUtf8(std::uint32_t code_point, std::string& out) {
  const auto continuation = [&](unsigned shift) {
    out += static_cast<char>(0x80 | (code_point >> shift & 0x3F));
  };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
    return;
  }
  if (code_point < 0x800) {
    out += static_cast<char>(0xC0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xE0 | code_point >> 12);
    continuation(6);
  } else {
    out += static_cast<char>(0xF0 | code_point >> 18);
    continuation(12);
    continuation(6);
  }
  continuation(0);
}

}  // namespace pa
