#include "base/text_place.h"

#include <gtest/gtest.h>

#include <string>

namespace pa {
namespace {

TEST(TextPlace, IsCountedInCharactersAsEditorsShowThem) {
  const auto place = [](std::string_view text, std::size_t at) {
    const LineAndColumn found = PlaceOf(text, at);
    return std::to_string(found.line) + ":" + std::to_string(found.column);
  };
  EXPECT_EQ(place("", 0), "1:1");
  EXPECT_EQ(place("ab\ncd\n", 4), "2:2");
  EXPECT_EQ(place("ab\ncd\n", 6), "3:1");
  EXPECT_EQ(place("ab\ncd", 99), "2:3") << "past the end is the end";
  EXPECT_EQ(place("a\r\n\xC3\xBC!", 5), "2:2") << "two bytes, one character";
  EXPECT_EQ(place("\xEF\xBB\xBF{}", 3), "1:1") << "a mark is no character";
}

TEST(TextPlace, GoesOnFromAnother) {
  const LineAndColumn end = Advanced({.line = 3, .column = 5}, "\xC3\xBC");
  EXPECT_EQ(end.line, 3u);
  EXPECT_EQ(end.column, 6u);
  const LineAndColumn next = Advanced(end, "a\n\nbc");
  EXPECT_EQ(next.line, 5u);
  EXPECT_EQ(next.column, 3u);
}

TEST(TextPlace, LeadsBackToTheByte) {
  constexpr std::string_view kText = "a\xC3\xBC\r\n\n\xE2\x82\xAC:b";
  for (std::size_t at = 0; at <= kText.size(); ++at) {
    if (at < kText.size() && (static_cast<unsigned char>(kText[at]) & 0xC0U) == 0x80) continue;
    EXPECT_EQ(OffsetOf(kText, PlaceOf(kText, at)), at);
  }
  EXPECT_EQ(OffsetOf(kText, {.line = 9, .column = 1}), kText.size());
  EXPECT_EQ(OffsetOf(kText, {.line = 4, .column = 99}), kText.size());
}

}  // namespace
}  // namespace pa
