// Finds where a byte stream can be cut without splitting a UTF-8 character. The bytes need not be
// UTF-8: then any place will do.
//
//    const std::size_t unfinished = UnfinishedCharacter(chunk);   // bytes to keep for the next one
//    const std::string_view shown = Utf8Head(text, 200);          // at most 200 bytes
#pragma once

#include <cstddef>
#include <string_view>

namespace pa {

inline bool IsUtf8Continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// How many bytes at the end of `bytes` (0 to 3) begin a character that is not complete.
inline std::size_t UnfinishedCharacter(std::string_view bytes) {
  for (std::size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

// How many bytes at the start of `bytes` (0 to 3) continue a character that began before.
inline std::size_t ContinuedCharacter(std::string_view bytes) {
  std::size_t count = 0;
  while (count < 3 && count < bytes.size() && IsUtf8Continuation(bytes[count])) ++count;
  return count;
}

// The beginning and the end of UTF-8 text: at most `bytes` bytes, and whole characters.
inline std::string_view Utf8Head(std::string_view text, std::size_t bytes) {
  text = text.substr(0, bytes);
  return text.substr(0, text.size() - UnfinishedCharacter(text));
}
inline std::string_view Utf8Tail(std::string_view text, std::size_t bytes) {
  if (text.size() > bytes) text.remove_prefix(text.size() - bytes);
  return text.substr(ContinuedCharacter(text));
}

}  // namespace pa
