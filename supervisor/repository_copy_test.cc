#include "supervisor/repository_copy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class RepositoryCopyTest : public ::testing::Test {
 protected:
  RepositoryCopyTest() {
    Git("init -q -b main .");
    testing::WriteText(root_ / "file", "text\n");
    Git("add file");
    Commit();
    Git("tag v1");
  }
  int Git(const std::string& arguments) const {
    return testing::RunProgram({.command = {"sh", "-c",
                                            "git -c user.name=a -c user.email=b -C '" +
                                                root_.string() + "' " + arguments},
                                .environment = {"PATH=/usr/bin:/bin", "HOME=" + root_.string()}})
        .exit_code;
  }
  void Commit() const { ASSERT_EQ(Git("commit -q --allow-empty -m next"), 0); }
  std::string GitDirectory() const { return root_ / ".git"; }
  RepositoryCopy Copy() const { return CopyRepository(GitDirectory(), root_).value(); }
  ProtectedChange Restore(const RepositoryCopy& copy) const {
    return RestoreRepository(copy, {}, root_ / "displaced");
  }

  testing::TempDir dir_;
  const fs::path root_ = fs::canonical(dir_.path());
};

TEST_F(RepositoryCopyTest, WhatIsNoRepositoryHasNone) {
  EXPECT_FALSE(CopyRepository(root_, root_));
  EXPECT_FALSE(CopyRepository(root_ / "absent", root_));
  EXPECT_TRUE(CopyRepository(GitDirectory(), root_));
}

TEST_F(RepositoryCopyTest, WhatGitDoesLeavesItIntact) {
  const RepositoryCopy copy = Copy();
  EXPECT_TRUE(IsIntact(copy));
  Commit();
  EXPECT_FALSE(IsCurrent(copy));
  EXPECT_TRUE(IsIntact(copy)) << "a commit";
  Git("checkout -q -b other");
  Git("branch -q -D main");
  EXPECT_TRUE(IsIntact(copy)) << "a branch less";
  Git("gc -q --prune=now");
  EXPECT_TRUE(IsIntact(copy)) << "all packed";
  Git("tag -d v1");
  Git("checkout -q --orphan new");
  Git("branch -q -D other");
  EXPECT_TRUE(IsIntact(copy)) << "on the way to another history";
}

TEST_F(RepositoryCopyTest, WithoutItsPartsItIsNone) {
  for (const char* part : {"HEAD", "objects", "refs", ""}) {
    const RepositoryCopy copy = Copy();
    fs::rename(root_ / ".git" / part, root_ / "aside");
    EXPECT_FALSE(IsIntact(copy)) << part;
    if (*part == '\0') fs::remove_all(root_ / ".git");
    fs::rename(root_ / "aside", root_ / ".git" / part);
    EXPECT_TRUE(IsIntact(copy)) << part;
  }
}

TEST_F(RepositoryCopyTest, NorWithoutWhatItsReferencesName) {
  for (const bool packed : {false, true}) {
    if (packed) Git("gc -q");
    const RepositoryCopy copy = Copy();
    ASSERT_FALSE(copy.tips.empty());
    const std::string& tip = copy.tips.front();
    const fs::path loose = root_ / ".git/objects" / tip.substr(0, 2) / tip.substr(2);
    const fs::path there = packed ? root_ / ".git/objects/pack" : loose;
    Git("hash-object -w --stdin </dev/null");  // there are objects left
    fs::rename(there, root_ / "aside");
    EXPECT_FALSE(IsIntact(copy)) << packed;
    fs::rename(root_ / "aside", there);
    EXPECT_TRUE(IsIntact(copy)) << packed;
  }
}

TEST_F(RepositoryCopyTest, AllButTheObjectsComesBack) {
  const RepositoryCopy copy = Copy();
  EXPECT_EQ(copy.objects, 3U) << "a commit, a tree, a file";
  const std::string index = testing::ReadText(root_ / ".git/index");
  for (const auto& entry : fs::directory_iterator(root_ / ".git")) fs::remove_all(entry);
  const ProtectedChange change = Restore(copy);
  EXPECT_TRUE(change.repository);
  EXPECT_FALSE(change.restored);
  EXPECT_TRUE(change.failure.starts_with("3 of 3 objects are gone")) << change.failure;
  EXPECT_EQ(testing::ReadText(root_ / ".git/HEAD"), "ref: refs/heads/main\n");
  EXPECT_EQ(testing::ReadText(root_ / ".git/refs/heads/main"), copy.tips.front() + "\n");
  EXPECT_EQ(testing::ReadText(root_ / ".git/refs/tags/v1"), copy.tips.front() + "\n");
  EXPECT_EQ(testing::ReadText(root_ / ".git/index"), index);
  EXPECT_TRUE(fs::is_directory(root_ / ".git/objects"));
  EXPECT_EQ(Git("ls-files --error-unmatch file"), 0) << "git takes it for a repository";
}

TEST_F(RepositoryCopyTest, WhereTheObjectsAreThereNothingIsGone) {
  const RepositoryCopy copy = Copy();
  testing::WriteText(root_ / ".git/HEAD", "nothing\n");
  fs::remove_all(root_ / ".git/refs/heads");
  fs::remove_all(root_ / ".git/refs/tags");
  const ProtectedChange change = Restore(copy);
  EXPECT_TRUE(change.restored) << change.failure;
  EXPECT_TRUE(IsIntact(copy));
  EXPECT_EQ(Git("fsck"), 0);
  EXPECT_EQ(Git("rev-parse v1 main"), 0);
}

TEST_F(RepositoryCopyTest, ACommandsOwnReferencesStay) {
  const RepositoryCopy copy = Copy();
  Commit();
  const std::string tip = testing::ReadText(root_ / ".git/refs/heads/main");
  fs::remove(root_ / ".git/HEAD");
  EXPECT_TRUE(Restore(copy).restored);
  EXPECT_EQ(testing::ReadText(root_ / ".git/refs/heads/main"), tip);
}

}  // namespace
}  // namespace pa
