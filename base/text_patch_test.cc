#include "base/text_patch.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(TextPatch, EditsAreMadeInTheirOrder) {
  const TextEdit edits[] = {{0, 1, "A"}, {2, 2, ","}, {2, 2, "+"}, {3, 4, ""}};
  EXPECT_EQ(Apply("abcde", edits), "Ab,+ce");
  EXPECT_EQ(Apply("abc", {}), "abc");
}

TEST(TextPatch, ALineKnowsItsEndAndItsIndent) {
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
