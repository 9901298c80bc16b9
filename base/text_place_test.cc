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

}  // namespace
}  // namespace pa
