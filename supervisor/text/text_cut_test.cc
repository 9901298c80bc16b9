#include "supervisor/text/text_cut.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(TextCut, UnfinishedCharacter) {
  EXPECT_EQ(UnfinishedCharacter(""), 0u);
  EXPECT_EQ(UnfinishedCharacter("abc"), 0u);
  EXPECT_EQ(UnfinishedCharacter("a\u20ac"), 0u);
  EXPECT_EQ(UnfinishedCharacter("a\xe2\x82"), 2u);
  EXPECT_EQ(UnfinishedCharacter("a\xe2"), 1u);
  EXPECT_EQ(UnfinishedCharacter("\xf0\x9f\x98"), 3u);
  EXPECT_EQ(UnfinishedCharacter("\xf0\x9f\x98\x80"), 0u);
  EXPECT_EQ(UnfinishedCharacter("\x80\x80\x80\x80"), 0u);
}

TEST(TextCut, ContinuedCharacter) {
  EXPECT_EQ(ContinuedCharacter(""), 0u);
  EXPECT_EQ(ContinuedCharacter("abc"), 0u);
  EXPECT_EQ(ContinuedCharacter("\x82\xac"
                               "abc"),
            2u);
  EXPECT_EQ(ContinuedCharacter("\x80\x80\x80\x80\x80"), 3u);
}

}  // namespace
}  // namespace pa
