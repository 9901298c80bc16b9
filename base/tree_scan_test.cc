#include "base/tree_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/unique_fd.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

Interest Choose(std::string_view name) {
  if (name == ".git") return Interest::kLeaf;
  return name == "mark" ? Interest::kReport : Interest::kNone;
}

class TreeScanTest : public ::testing::Test {
 protected:
  ScannedTree Look(const ScanLimits& limits = {}) {
    const UniqueFd root(open(dir_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return scan_.Look(root.get(), limits);
  }
  void Make(const std::string& path) { fs::create_directories(dir_.path() / path); }
  static void LetTheClockMove() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

  testing::TempDir dir_;
  TreeScan scan_{Choose};
};

using Names = std::vector<ScannedName>;

TEST_F(TreeScanTest, FindsNamesWhereverTheyLie) {
  Make("a/b/.git/mark");  // a leaf: nothing in it is looked at
  Make("a/mark/mark");
  testing::WriteText(dir_.path() / "c/.git", "gitdir: x\n");
  const ScannedTree tree = Look();
  const Names wanted = {{"a", "mark", DT_DIR},
                        {"a/b", ".git", DT_DIR},
                        {"a/mark", "mark", DT_DIR},
                        {"c", ".git", DT_REG}};
  EXPECT_EQ(tree.names, wanted);
  EXPECT_EQ(tree.exceeded, "");
  EXPECT_EQ(tree.directories, 6u);  // the root, a, a/b, a/mark, a/mark/mark, c
  EXPECT_EQ(tree.read, 6u);
}

TEST_F(TreeScanTest, FollowsNoSymlink) {
  Make("real");
  testing::TempDir elsewhere;
  fs::create_directories(elsewhere.path() / ".git");
  fs::create_directory_symlink(elsewhere.path(), dir_.path() / "link");
  fs::create_directory_symlink(elsewhere.path() / ".git", dir_.path() / "real/.git");
  EXPECT_EQ(Look().names, (Names{{"real", ".git", DT_LNK}}));
}

TEST_F(TreeScanTest, ASecondLookReadsWhatHasChanged) {
  Make("a/b/c");
  Make("d/e");
  LetTheClockMove();
  EXPECT_EQ(Look().read, 5u + 1u);
  EXPECT_EQ(Look().read, 0u);
  Make("a/b/.git");
  ScannedTree tree = Look();
  EXPECT_EQ(tree.read, 1u);
  EXPECT_EQ(tree.directories, 6u);
  EXPECT_EQ(tree.names, (Names{{"a/b", ".git", DT_DIR}}));
  fs::remove(dir_.path() / "a/b/.git");
  EXPECT_EQ(Look().names, Names());
}

TEST_F(TreeScanTest, ALookThatIsGivenUpIsNotComplete) {
  Make("a/mark");
  std::atomic<bool> given_up = true;
  const ScannedTree tree = Look({.given_up = &given_up});
  EXPECT_EQ(tree.exceeded, "the search was cancelled");
  EXPECT_FALSE(tree.Complete());
  EXPECT_EQ(tree.directories, 0u);
  given_up = false;
  EXPECT_EQ(Look({.given_up = &given_up}).names, (Names{{"a", "mark", DT_DIR}}));
}

// Within one tick of the clock a directory can change twice.
TEST_F(TreeScanTest, WhatIsYoungIsReadAgain) {
  Make("a");
  EXPECT_EQ(Look().read, 2u);
  EXPECT_EQ(Look().read, 2u);
  LetTheClockMove();
  EXPECT_EQ(Look().read, 2u);
  EXPECT_EQ(Look().read, 0u);
}

TEST_F(TreeScanTest, AnotherDirectoryUnderTheSameName) {
  Make("a/b");
  Make("other/.git");
  LetTheClockMove();
  Look();
  fs::rename(dir_.path() / "a/b", dir_.path() / "b");
  fs::rename(dir_.path() / "other", dir_.path() / "a/b");
  EXPECT_EQ(Look().names, (Names{{"a/b", ".git", DT_DIR}}));
  fs::remove_all(dir_.path() / "a");
  testing::WriteText(dir_.path() / "a", "a file now");
  EXPECT_EQ(Look().names, Names());
}

// Only what changed is read, and not what is known beneath it.
TEST_F(TreeScanTest, WhereSeveralHaveChangedEachIsReadOnce) {
  Make("a/b/c");
  Make("a/d");
  LetTheClockMove();
  EXPECT_EQ(Look().read, 5u);
  Make("mark");
  Make("a/mark");
  LetTheClockMove();
  const ScannedTree tree = Look();
  EXPECT_EQ(tree.read, 4u) << "the root, a, and the two new ones";
  EXPECT_EQ(tree.directories, 7u);
  EXPECT_EQ(tree.names, (Names{{"", "mark", DT_DIR}, {"a", "mark", DT_DIR}}));
}

// Between the two halves of a look somebody may do anything.
TEST_F(TreeScanTest, WhatIsExchangedBeforeItIsReadIsSeen) {
  Make("a/b");
  Make("other/.git");
  LetTheClockMove();
  Look();
  Make("a/new");
  const UniqueFd root(open(dir_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const ChangedTree changed = scan_.Check(root.get());
  fs::rename(dir_.path() / "a/b", dir_.path() / "b");
  fs::rename(dir_.path() / "other", dir_.path() / "a/b");
  ReadTree read = ReadDirectories(root.get(), changed.directories, Choose, {}, changed.known);
  const ScannedName found{"a/b", ".git", DT_DIR};
  EXPECT_EQ(std::ranges::count(scan_.Take(changed, std::move(read)).names, found), 1);
}

TEST_F(TreeScanTest, LimitsAreSaid) {
  Make("a/b/c/d/.git");
  Make("e");
  EXPECT_EQ(Look({.directories = 3}).exceeded, "3 directories");
  EXPECT_EQ(Look({.time = std::chrono::milliseconds(0)}).exceeded, "0 ms");
  scan_ = TreeScan(Choose);
  EXPECT_EQ(Look({.entries = 2}).exceeded, "2 entries");
  const ScannedTree all = Look({.directories = 6, .depth = 5});
  EXPECT_EQ(all.exceeded, "");
  EXPECT_EQ(all.names, (Names{{"a/b/c/d", ".git", DT_DIR}}));
}

TEST_F(TreeScanTest, WhatLiesTooDeepClosesOneBranch) {
  Make("a/b/c/d/.git");
  Make("e/.git");
  const ScannedTree tree = Look({.depth = 3});
  EXPECT_EQ(tree.deeper, "a/b/c");
  EXPECT_EQ(tree.exceeded, "");
  EXPECT_FALSE(tree.Complete());
  EXPECT_EQ(tree.names, (Names{{"e", ".git", DT_DIR}}));
  EXPECT_TRUE(Look().Complete());
}

TEST_F(TreeScanTest, LimitsHoldWithinADirectory) {
  Make("below/there");
  for (int i = 0; i < 300; ++i) {
    testing::WriteText(dir_.path() / ("file" + std::to_string(i)), "");
  }
  LetTheClockMove();
  EXPECT_EQ(Look().read, 3u);
  testing::WriteText(dir_.path() / "another", "");
  LetTheClockMove();
  const ScannedTree stopped = Look({.entries = 10});
  EXPECT_EQ(stopped.exceeded, "10 entries");
  EXPECT_EQ(stopped.read, 1u) << "what was known beneath was looked at, and is not read";
  EXPECT_EQ(Look().read, 1u) << "what was known beneath is known still";
  EXPECT_EQ(Look().read, 0u);
}

TEST_F(TreeScanTest, TheNamesHaveALimit) {
  for (int i = 0; i < 100; ++i) Make("a/" + std::to_string(i) + "/.git");
  const ScannedTree tree = Look({.bytes = 1000});
  EXPECT_EQ(tree.exceeded, "1000 bytes of names");
  EXPECT_LT(tree.names.size(), 50u);
  EXPECT_EQ(Look().names.size(), 100u);
}

TEST_F(TreeScanTest, WhatItsOwnerHasClosedIsLookedInto) {
  Make("closed/within/.git");
  for (const unsigned mode : {0000u, 0300u, 0600u}) {
    const auto closed = static_cast<fs::perms>(mode);
    fs::permissions(dir_.path() / "closed", closed);
    const ScannedTree tree = Look();
    EXPECT_EQ(tree.names, (Names{{"closed/within", ".git", DT_DIR}})) << mode;
    EXPECT_EQ(tree.closed, std::vector<std::string>{"closed"}) << mode;
    EXPECT_TRUE(tree.Complete()) << mode;
    EXPECT_EQ(fs::status(dir_.path() / "closed").permissions(), closed);
  }
  fs::permissions(dir_.path() / "closed", fs::perms::owner_all);
  EXPECT_TRUE(Look().closed.empty());
}

TEST_F(TreeScanTest, WhatCannotBeReadIsSaid) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const UniqueFd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const ScannedTree tree = scan_.Look(root.get(), {.depth = 2});
  EXPECT_NE(std::ranges::find(tree.unreadable, "root"), tree.unreadable.end());
  EXPECT_FALSE(tree.Complete());
}

}  // namespace
}  // namespace pa
