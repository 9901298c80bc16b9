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

TEST(Quoted, Quotes) { EXPECT_EQ(Quoted("a b"), "'a b'"); }

}  // namespace
}  // namespace pa
