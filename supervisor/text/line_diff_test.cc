#include "supervisor/text/line_diff.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

std::string Diff(const std::string& before, const std::string& after) {
  return UnifiedDiff("a", "b", before, after);
}

TEST(LineDiffTest, NothingForTheSame) {
  EXPECT_EQ(Diff("", ""), "");
  EXPECT_EQ(Diff("a\nb", "a\nb"), "");
}

TEST(LineDiffTest, OneLineWithWhatStandsAroundIt) {
  EXPECT_EQ(Diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(LineDiffTest, FarApartAreTwoHunks) {
  std::string before;
  for (int i = 1; i <= 20; ++i) before += std::to_string(i) + "\n";
  std::string after = before;
  after.replace(after.find("2\n"), 2, "");
  after.replace(after.find("19\n"), 3, "19\n19.5\n");
  EXPECT_EQ(Diff(before, after),
            "--- a\n+++ b\n@@ -1,5 +1,4 @@\n 1\n-2\n 3\n 4\n 5\n"
            "@@ -17,4 +16,5 @@\n 17\n 18\n 19\n+19.5\n 20\n");
}

TEST(LineDiffTest, TheLastLineMayHaveNoEnd) {
  EXPECT_EQ(Diff("a\nb", "a\nb\n"),
            "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
  EXPECT_EQ(Diff("", "a\n"), "--- a\n+++ b\n@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(Diff("a\n", ""), "--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n");
}

TEST(LineDiffTest, TooMuchIsSaidToBeLeftOut) {
  std::string before;
  std::string after;
  for (int i = 0; i < 100; ++i) {
    before += "x\n1\n2\n3\n4\n5\n6\n7\n";
    after += "y\n1\n2\n3\n4\n5\n6\n7\n";
  }
  bool cut = false;
  const std::string diff = UnifiedDiff("a", "b", before, after, 200, &cut);
  EXPECT_TRUE(diff.ends_with(" changes more\n")) << diff;
  EXPECT_LT(diff.size(), 300u);
  EXPECT_TRUE(cut);
}

TEST(LineDiffTest, ThatNothingIsLeftOutIsSaidToo) {
  bool cut = false;
  EXPECT_NE(UnifiedDiff("a", "b", "x\n", "y\n", 200, &cut), "");
  EXPECT_FALSE(cut);
}

TEST(LineDiffTest, AChangeThatIsTooLongIsCutAtALine) {
  std::string after;
  for (int i = 0; i < 100; ++i) after += "a line of the new file\n";
  bool cut = false;
  const std::string diff = UnifiedDiff("a", "b", "", after, 200, &cut);
  EXPECT_TRUE(cut);
  EXPECT_TRUE(diff.ends_with("+a line of the new file\n... the rest of this change is left out\n"))
      << diff;
  EXPECT_LT(diff.size(), 300u);
}

// A mebibyte of line ends is a million lines.
TEST(LineDiffTest, MoreLinesThanAreCompared) {
  const std::string many(1U << 20, '\n');
  EXPECT_EQ(Diff("a" + many + "b", "c" + many + "d"),
            "--- a\n+++ b\n... too many lines to compare\n");
  EXPECT_EQ(Diff(many + "a\n" + many, many + "b\n" + many),
            "--- a\n+++ b\n@@ -1048574,7 +1048574,7 @@\n \n \n \n-a\n+b\n \n \n \n");
}

// More changes than are looked for, also where it is slow to find them.
TEST(LineDiffTest, WhatHasNothingInCommonIsReplaced) {
  std::string before;
  std::string after;
  for (int i = 0; i < 3000; ++i) {
    before += "a" + std::to_string(i) + "\n";
    after += "b" + std::to_string(i) + "\n";
  }
  const std::string diff = UnifiedDiff("a", "b", "0\n" + before, "0\n" + after, 1U << 20);
  EXPECT_EQ(diff.find("@@ -1,3001 +1,3001 @@\n 0\n-a0\n"), 12u) << diff.substr(0, 60);
}

// patch(1) is of another opinion about nothing.
TEST(LineDiffTest, PatchMakesTheNewOfTheOld) {
  if (std::system("command -v patch >/dev/null") != 0) GTEST_SKIP() << "patch is not installed";
  const testing::TempDir dir;
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string texts[2];
    for (std::string& text : texts) {
      for (auto lines = random() % 30; lines > 0; --lines) {
        text += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
      }
      if (!text.empty() && random() % 3 == 0) text.pop_back();
    }
    if (texts[0] == texts[1]) continue;
    testing::WriteText(dir.path() / "f", texts[0]);
    testing::WriteText(dir.path() / "p", UnifiedDiff("f", "f", texts[0], texts[1]));
    const std::string command = "cd " + dir.path().string() + " && patch -s -o out f p 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << Diff(texts[0], texts[1]);
    EXPECT_EQ(testing::ReadText(dir.path() / "out"), texts[1]) << Diff(texts[0], texts[1]);
  }
}

}  // namespace
}  // namespace pa
