#include "supervisor/clients/config_text.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(ConfigText, PlacesAreCountedInCharactersAsEditorsShowThem) {
  const auto place = [](std::string_view text, std::size_t at) {
    const LineAndColumn found = PlaceOf(text, at);
    return std::to_string(found.line) + ":" + std::to_string(found.column);
  };
  EXPECT_EQ(place("", 0), "1:1");
  EXPECT_EQ(place("ab\ncd\n", 4), "2:2");
  EXPECT_EQ(place("ab\ncd\n", 6), "3:1");
  EXPECT_EQ(place("a\r\n\xC3\xBC!", 5), "2:2") << "two bytes, one character";
  EXPECT_EQ(place("\xEF\xBB\xBF{}", 3), "1:1") << "a mark is no character";
}

TEST(ConfigText, EditsAreMadeInTheirOrder) {
  const TextEdit edits[] = {{0, 1, "A"}, {2, 2, ","}, {2, 2, "+"}, {3, 4, ""}};
  EXPECT_EQ(Apply("abcde", edits), "Ab,+ce");
  EXPECT_EQ(Apply("abc", {}), "abc");
}

TEST(ConfigText, ALineKnowsItsEndAndItsIndent) {
  EXPECT_EQ(LineEnd("a\nb\r\n"), "\n");
  EXPECT_EQ(LineEnd("a\r\nb\n"), "\r\n");
  EXPECT_EQ(LineEnd("\na"), "\n");
  EXPECT_EQ(LineEnd("a"), "\n");
  constexpr std::string_view kText = "{\n \t\"a\": {}\n}";
  EXPECT_EQ(IndentOf(kText, 4), " \t");
  EXPECT_EQ(IndentOf(kText, 9), " \t");
  EXPECT_EQ(IndentOf(kText, 0), "");
  EXPECT_TRUE(StandsFirst(kText, 4));
  EXPECT_FALSE(StandsFirst(kText, 9));
}

}  // namespace
}  // namespace pa
