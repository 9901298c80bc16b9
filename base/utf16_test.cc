#include "base/utf16.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace pa {
namespace {

std::string Decoded(Utf16Decoder& decoder, std::string_view bytes, std::size_t step) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    out += decoder.Feed(bytes.substr(at, step));
  }
  return out + decoder.End();
}

TEST(Utf16Test, InBothOrdersAndAnyPortions) {
  const std::string little("a\0\xE4\0\xAC\x20\x3D\xD8\x00\xDE\n\0",
                           12);  // a, a umlaut, euro, a face
  const std::string big("\0a\0\xE4\x20\xAC\xD8\x3D\xDE\x00\0\n", 12);
  const std::string text = "a\u00E4\u20AC\U0001F600\n";
  for (std::size_t step = 1; step <= little.size(); ++step) {
    Utf16Decoder one(Utf16Decoder::kLittleEndian);
    EXPECT_EQ(Decoded(one, little, step), text) << step;
    Utf16Decoder other(Utf16Decoder::kBigEndian);
    EXPECT_EQ(Decoded(other, big, step), text) << step;
    EXPECT_TRUE(one.valid() && other.valid());
  }
}

TEST(Utf16Test, WhatIsNoneIsReplaced) {
  const std::string replaced = "\uFFFD";
  const std::pair<std::string, std::string> cases[] = {
      {std::string("a\0\0", 3), "a" + replaced},
      {std::string("\x3D\xD8", 2), replaced},
      {std::string("\x3D\xD8x\0", 4), replaced + "x"},
      {std::string("\x00\xDEx\0", 4), replaced + "x"},
      {std::string("\x3D\xD8\x3D\xD8\x00\xDE", 6), replaced + "\U0001F600"}};
  for (const auto& [bytes, text] : cases) {
    Utf16Decoder decoder(Utf16Decoder::kLittleEndian);
    const std::string out = Decoded(decoder, bytes, bytes.size());
    EXPECT_EQ(out, text);
    EXPECT_TRUE(IsValidUtf8(out));
    EXPECT_FALSE(decoder.valid());
  }
}

}  // namespace
}  // namespace pa
