#include "base/utf8.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

std::string Times(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += kReplacement;
  return text;
}

// How the bytes of every code point look, by arithmetic instead of by table 3-7.
std::string Encode(unsigned code) {
  const auto byte = [](unsigned value) { return static_cast<char>(value); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F))};
  if (code < 0x10000) {
    return {byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F))};
  }
  return {byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)),
          byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F))};
}

TEST(Utf8, EveryCodePointAndNoSurrogate) {
  for (unsigned code = 0; code < 0x110000 + 100; ++code) {
    const bool scalar = code < 0x110000 && (code < 0xD800 || code > 0xDFFF);
    const std::string bytes = Encode(code);
    ASSERT_EQ(IsValidUtf8(bytes), scalar) << code;
    std::size_t invalid = 0;
    ASSERT_EQ(Utf8SequenceLength(bytes, &invalid), scalar ? bytes.size() : 0) << code;
  }
}

TEST(Utf8, AnyThreeBytesAreRepairedToValidText) {
  for (unsigned bits = 0; bits < 1u << 24; bits += 61) {
    const char bytes[] = {static_cast<char>(bits >> 16), static_cast<char>(bits >> 8),
                          static_cast<char>(bits)};
    const std::string_view text(bytes, sizeof(bytes));
    const std::string repaired = RepairUtf8(text);
    ASSERT_TRUE(IsValidUtf8(repaired)) << bits;
    ASSERT_EQ(repaired == text, IsValidUtf8(text)) << bits;
  }
}

TEST(Utf8, ValidityAtEveryOffsetOfTheFastPath) {
  for (std::size_t at = 0; at < 40; ++at) {
    std::string text(40, 'x');
    EXPECT_TRUE(IsValidUtf8(text));
    text[at] = '\x80';
    EXPECT_FALSE(IsValidUtf8(text)) << at;
  }
}

TEST(RepairUtf8, OneReplacementForEachMaximalSubpart) {
  // Unicode 15, 3.9, tables 3-8 to 3-11.
  EXPECT_EQ(RepairUtf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), Times(8) + "A");
  EXPECT_EQ(RepairUtf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), Times(8) + "A");
  EXPECT_EQ(RepairUtf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), Times(5) + "A" + Times(2) + "B");
  EXPECT_EQ(RepairUtf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), Times(4) + "A");
}

TEST(RepairUtf8, KeepsWhatIsValid) {
  const std::string text = std::string("a\0\n\t", 4) + "\u00e9\u20ac\U0001F600";
  EXPECT_EQ(RepairUtf8(text), text);
}

TEST(RepairUtf8, OneLine) {
  EXPECT_EQ(RepairUtf8(std::string_view("a\nb\r\x1b[0m\0\tc\xFF", 12), true),
            std::string("a?b??[0m?\tc") + kReplacement);
}

TEST(Utf8Prefix, CountsCharactersNotBytes) {
  const std::string text = "a\u00e9\u20ac\U0001F600z";
  EXPECT_EQ(Utf8Prefix(text, 0), "");
  EXPECT_EQ(Utf8Prefix(text, 1), "a");
  EXPECT_EQ(Utf8Prefix(text, 2), "a\u00e9");
  EXPECT_EQ(Utf8Prefix(text, 4), "a\u00e9\u20ac\U0001F600");
  EXPECT_EQ(Utf8Prefix(text, 5), text);
  EXPECT_EQ(Utf8Prefix(text, 99), text);
  EXPECT_EQ(Utf8Prefix("", 3), "");
}

}  // namespace
}  // namespace pa
