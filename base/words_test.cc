#include "base/words.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

using Words = std::vector<std::string_view>;

TEST(SplitWords, AnyNumberOfBlanksSeparates) {
  EXPECT_EQ(SplitWords(" a \t b  "), (Words{"a", "b"}));
  EXPECT_EQ(SplitWords(""), Words());
  EXPECT_EQ(SplitWords("  \t"), Words());
  EXPECT_EQ(SplitWords("a\tb c", " "), (Words{"a\tb", "c"}));
}

TEST(Trimmed, TakesTheBlanksFromBothEnds) {
  EXPECT_EQ(Trimmed(" \ta b\t "), "a b");
  EXPECT_EQ(Trimmed("a\r"), "a\r");
  EXPECT_EQ(Trimmed("# a #\r", "# \r"), "a");
  EXPECT_EQ(Trimmed(" \t "), "");
  EXPECT_EQ(Trimmed(""), "");
}

TEST(IsNumber, IsOfDigitsAlone) {
  EXPECT_TRUE(IsNumber("0123456789"));
  EXPECT_FALSE(IsNumber(""));
  EXPECT_FALSE(IsNumber("-1"));
  EXPECT_FALSE(IsNumber("1a"));
}

TEST(Lowered, KnowsAsciiAlone) {
  EXPECT_EQ(Lowered("AZaz[@09"), "azaz[@09");
  EXPECT_EQ(Lowered("\xC3\x84"), "\xC3\x84");
}

TEST(PathEntries, AnEmptyOneIsAnEntryToo) {
  EXPECT_EQ(PathEntries("/a:/b"), (Words{"/a", "/b"}));
  EXPECT_EQ(PathEntries(":/a::/b:"), (Words{"", "/a", "", "/b", ""}));
  EXPECT_EQ(PathEntries(":"), (Words{"", ""}));
  EXPECT_EQ(PathEntries(""), Words());
}

TEST(Quoted, Quotes) { EXPECT_EQ(Quoted("a b"), "'a b'"); }

}  // namespace
}  // namespace pa
