#include "policy/repositories_below.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <filesystem>

#include "base/unique_fd.h"
#include "tests/support/deep_directory.h"
#include "tests/support/temp_dir.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;
using RepositoryKind = RepositoryBelow::Kind;

class RepositoriesBelowTest : public ::testing::Test {
 protected:
  std::vector<RepositoryBelow> Find() {
    const UniqueFd root(open(dir_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    tree_ = scan_.Look(root.get());
    return RepositoriesBelow(tree_, dir_.path());
  }
  std::string At(const std::string& path) { return dir_.path() / path; }
  void Make(const std::string& path) { fs::create_directories(dir_.path() / path); }

  pa::testing::TempDir dir_;
  TreeScan scan_{ChooseRepositoryNames};
  ScannedTree tree_;
};

TEST_F(RepositoriesBelowTest, WhateverIsCalledGitAndNotItsOwn) {
  Make(".git");
  Make("a/.git/modules/x/.git");
  Make("b/.GIT");
  pa::testing::WriteText(At("c/.git"), "gitdir: ../x\n");
  Make("d");
  fs::create_symlink("../a/.git", At("d/.git"));
  const std::vector<RepositoryBelow> found = Find();
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].path, At("a/.git"));
  EXPECT_EQ(found[0].kind, RepositoryKind::kDirectory);
  EXPECT_EQ(found[1].kind, RepositoryKind::kDirectory);
  EXPECT_EQ(found[2].kind, RepositoryKind::kLink);
  EXPECT_EQ(found[3].kind, RepositoryKind::kOther);
}

TEST_F(RepositoriesBelowTest, BareOnesAreThoseThatGitTakesForOne) {
  for (const char* name : {"bare.git", "no-head", "no-refs", "linked"}) Make(name);
  for (const char* part : {"bare.git/objects", "bare.git/refs", "no-head/objects", "no-head/refs",
                           "no-refs/objects"}) {
    Make(part);
  }
  for (const char* head : {"bare.git/HEAD", "no-refs/HEAD", "linked/HEAD", "linked/commondir"}) {
    pa::testing::WriteText(At(head), "ref: refs/heads/main\n");
  }
  const std::vector<RepositoryBelow> found = Find();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].path, At("bare.git"));
  EXPECT_EQ(found[0].kind, RepositoryKind::kBare);
  EXPECT_EQ(found[1].path, At("linked"));
}

TEST_F(RepositoriesBelowTest, TheSameOneIsKnownWhereverItIsMoved) {
  Make("a/.git");
  const RepositoryBelow before = Find().at(0);
  fs::rename(At("a"), At("b"));
  const RepositoryBelow moved = Find().at(0);
  EXPECT_NE(moved.path, before.path);
  EXPECT_TRUE(moved.Same(before));
  Make("c/.git");
  EXPECT_FALSE(Find().at(1).Same(before));
}

TEST_F(RepositoriesBelowTest, AFileLiesInThoseAroundIt) {
  Make(".git");
  Make("a/.git");
  Make("b/.git");
  pa::testing::WriteText(At("a/x/y/.git"), "gitdir: ../x\n");
  const std::vector<RepositoryBelow> found = RepositoriesAround(dir_.path(), At("a/x/y/z/file"));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].path, At("a/.git"));
  EXPECT_EQ(found[0].kind, RepositoryKind::kDirectory);
  EXPECT_EQ(found[1].path, At("a/x/y/.git"));
  EXPECT_EQ(found[1].kind, RepositoryKind::kLink);
  EXPECT_TRUE(RepositoriesAround(dir_.path(), At("file")).empty()) << "its own is none";
}

TEST_F(RepositoriesBelowTest, AFileLiesInAGitDirectoryOfAnyName) {
  for (const char* part : {"p/.bare/objects", "p/.bare/refs", "p/.bare/hooks", "p/main"})
    Make(part);
  const auto lies = [&](const std::string& path) {
    return LiesInGitDirectory(dir_.path(), path.empty() ? dir_.path().string() : At(path)).value();
  };
  EXPECT_FALSE(lies("p/.bare/hooks/x")) << "git takes it for nothing";
  EXPECT_TRUE(RepositoriesAround(dir_.path(), At("p/.bare/config")).empty());
  pa::testing::WriteText(At("p/.bare/HEAD"), "ref: refs/heads/main\n");
  EXPECT_TRUE(IsGitDirectory(At("p/.bare")).value());
  for (const char* path : {"p/.bare", "p/.bare/hooks", "p/.bare/new/file"}) EXPECT_TRUE(lies(path));
  for (const char* path : {"", "p", "p/main/x", "p/HEAD"}) EXPECT_FALSE(lies(path)) << path;
  const std::vector<RepositoryBelow> found = RepositoriesAround(dir_.path(), At("p/.bare/config"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path, At("p/.bare"));
  EXPECT_EQ(found[0].kind, RepositoryKind::kBare);
  // `git worktree add` within it.
  pa::testing::WriteText(At("p/.bare/tree/.git"), "gitdir: ../worktrees/tree\n");
  EXPECT_FALSE(lies("p/.bare/tree/src/file"));
  EXPECT_EQ(RepositoriesAround(dir_.path(), At("p/.bare/tree/src/file")).size(), 2u);
  for (const char* name : {"HEAD", "commondir"}) {
    pa::testing::WriteText(At("p/.bare/worktrees/tree/") + name, "x\n");
  }
  pa::testing::WriteText(At("p/.bare/worktrees/tree/.git"), "");
  EXPECT_TRUE(lies("p/.bare/worktrees/tree/config")) << "whatever a command puts into it";
  const std::string odd = At(std::string(NAME_MAX + 1, 'x'));
  EXPECT_FALSE(IsGitDirectory(odd).has_value()) << "not looked at is not looked for in vain";
  EXPECT_FALSE(LiesInGitDirectory(dir_.path(), odd + "/file").has_value());
}

TEST_F(RepositoriesBelowTest, NamesMayHaveNoCase) {
  for (const char* part : {"a/head", "a/Objects", "a/REFS"}) Make(part);
  ASSERT_EQ(Find().size(), 1u);
  EXPECT_EQ(Find()[0].kind, RepositoryKind::kBare);
}

// The scan goes by descriptors, so it sees what has too long a path for anything else.
TEST_F(RepositoriesBelowTest, WhatHasTooLongAPathIsNotLeftOutInSilence) {
  Make("a/.git");
  const pa::testing::DeepDirectory deep(dir_.path(), PATH_MAX + 1);
  const std::string below = deep.path.substr(dir_.path().string().size() + 1);
  Find();
  EXPECT_TRUE(tree_.unreadable.empty()) << "no repository, nothing amiss";
  ASSERT_EQ(mkdirat(deep.fd.get(), ".git", 0700), 0);
  EXPECT_EQ(Find().size(), 1u);
  EXPECT_EQ(tree_.unreadable, std::vector<std::string>{below});
  // As a bare one, too.
  ASSERT_EQ(unlinkat(deep.fd.get(), ".git", AT_REMOVEDIR), 0);
  for (const char* part : {"HEAD", "objects", "refs"}) mkdirat(deep.fd.get(), part, 0700);
  EXPECT_EQ(Find().size(), 1u);
  EXPECT_EQ(tree_.unreadable, std::vector<std::string>{below});
}

// Else git's files in it could not be judged, and a call that has to look at them would fail.
TEST_F(RepositoriesBelowTest, NorWhereThereIsNoRoomForWhatIsInIt) {
  const pa::testing::DeepDirectory enough(dir_.path(), PATH_MAX - 200);
  ASSERT_EQ(mkdirat(enough.fd.get(), ".git", 0700), 0);
  EXPECT_EQ(Find().size(), 1u);
  EXPECT_TRUE(tree_.unreadable.empty());
  const pa::testing::DeepDirectory scarce(enough.path, PATH_MAX - 100);
  ASSERT_EQ(mkdirat(scarce.fd.get(), ".git", 0700), 0);
  EXPECT_EQ(Find().size(), 1u);
  EXPECT_EQ(tree_.unreadable.size(), 1u);
}

TEST_F(RepositoriesBelowTest, AroundAFileWhatCannotBeLookedAtIsOne) {
  const std::string deep = dir_.path() / std::string(NAME_MAX + 1, 'x');
  const std::vector<RepositoryBelow> found = RepositoriesAround(dir_.path(), deep + "/file");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path, deep + "/.git");
  EXPECT_EQ(found[0].kind, RepositoryKind::kOther);
}

}  // namespace
}  // namespace pa::policy
