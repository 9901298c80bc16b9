#include "supervisor/denials/refusal_words.h"

#include <gtest/gtest.h>

#include <vector>

namespace pa {
namespace {

TEST(RefusalWordsTest, TheFirstWordsThatAreKnownDecide) {
  EXPECT_EQ(UsesByWords("mkdir: cannot create directory "), kTriedChange);
  EXPECT_EQ(UsesByWords("cannot create regular file "), kTriedWrite);
  EXPECT_EQ(UsesByWords("cannot open directory "), kTriedRead);
  EXPECT_EQ(UsesByWords("cannot access "), 0u) << "Landlock does not restrict it";
  EXPECT_EQ(UsesByWords("tool: "), std::nullopt);
}

TEST(RefusalWordsTest, WordsAreWhole) {
  EXPECT_TRUE(HasWords("cannot open /x", "open"));
  EXPECT_FALSE(HasWords("reopened /x", "open"));
  EXPECT_FALSE(HasWords("_open", "open"));
  EXPECT_TRUE(HasWords("open", "open"));
}

TEST(RefusalWordsTest, ProgramsThatSayNothing) {
  const auto uses = [](const std::vector<std::string_view>& segments) {
    return UsesByProgram(segments);
  };
  EXPECT_EQ(uses({"/usr/bin/cat"}), kTriedRead);
  EXPECT_EQ(uses({"bash", "line 3"}), kTriedByShell);
  EXPECT_EQ(uses({"sh", "1"}), kTriedExecute);
  EXPECT_EQ(uses({"make[2]"}), kTriedRead | kTriedExecute);
  EXPECT_EQ(uses({"main.c:1:10"}), kTriedRead);
  EXPECT_EQ(uses({"tool"}), kTriedByOthers);
  EXPECT_EQ(uses({}), kTriedByOthers);
}

}  // namespace
}  // namespace pa
