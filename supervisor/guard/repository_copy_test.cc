#include "supervisor/guard/repository_copy.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;
using policy::ProtectedPath;

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
  std::optional<RepositoryCopy> CopyOf(const std::string& path) const {
    ImageBudget budget;
    return CopyRepository(path, root_, budget).value();
  }
  RepositoryCopy Copy() const { return CopyOf(GitDirectory()).value(); }
  static bool IsWhole(const RepositoryCopy& copy) { return IsIntact(copy).value(); }
  ProtectedChange Restore(const RepositoryCopy& copy) const {
    return RestoreRepository(copy, {}, root_ / "displaced");
  }

  testing::TempDir dir_;
  const fs::path root_ = fs::canonical(dir_.path());
};

TEST_F(RepositoryCopyTest, WhatIsNoRepositoryHasNone) {
  EXPECT_FALSE(CopyOf(root_));
  EXPECT_FALSE(CopyOf(root_ / "absent"));
  EXPECT_TRUE(CopyOf(GitDirectory()));
}

TEST_F(RepositoryCopyTest, WhatGitDoesLeavesItIntact) {
  const RepositoryCopy copy = Copy();
  EXPECT_TRUE(IsWhole(copy));
  Commit();
  EXPECT_FALSE(IsCurrent(copy));
  EXPECT_TRUE(IsWhole(copy)) << "a commit";
  Git("checkout -q -b other");
  Git("branch -q -D main");
  EXPECT_TRUE(IsWhole(copy)) << "a branch less";
  Git("gc -q --prune=now");
  EXPECT_TRUE(IsWhole(copy)) << "all packed";
  Git("tag -d v1");
  Git("checkout -q --orphan new");
  Git("branch -q -D other");
  EXPECT_TRUE(IsWhole(copy)) << "on the way to another history";
}

TEST_F(RepositoryCopyTest, WithoutItsPartsItIsNone) {
  for (const char* part : {"HEAD", "objects", "refs", ""}) {
    const RepositoryCopy copy = Copy();
    fs::rename(root_ / ".git" / part, root_ / "aside");
    EXPECT_FALSE(IsWhole(copy)) << part;
    if (*part == '\0') fs::remove_all(root_ / ".git");
    fs::rename(root_ / "aside", root_ / ".git" / part);
    EXPECT_TRUE(IsWhole(copy)) << part;
  }
}

// Opened, each kind has an error of its own.
TEST_F(RepositoryCopyTest, NorWithSomethingElseInItsPlace) {
  const std::string head = root_ / ".git/HEAD";
  const RepositoryCopy copy = Copy();
  fs::rename(head, root_ / "aside");
  for (const int type : {S_IFSOCK, S_IFIFO, S_IFREG}) {
    ASSERT_EQ(mknod(head.c_str(), static_cast<mode_t>(type | 0600), 0), 0);
    EXPECT_FALSE(IsWhole(copy)) << type;
    fs::remove(head);
  }
  fs::create_directory(head);
  EXPECT_FALSE(IsWhole(copy));
}

TEST_F(RepositoryCopyTest, NorWithoutWhatItsReferencesName) {
  for (const bool packed : {false, true}) {
    if (packed) Git("gc -q");
    const RepositoryCopy copy = Copy();
    ASSERT_FALSE(copy.tips.empty());
    const std::string& tip = copy.tips.front().object;
    const fs::path loose = root_ / ".git/objects" / tip.substr(0, 2) / tip.substr(2);
    const fs::path there = packed ? root_ / ".git/objects/pack" : loose;
    Git("hash-object -w --stdin </dev/null");  // there are objects left
    fs::rename(there, root_ / "aside");
    EXPECT_FALSE(IsWhole(copy)) << packed;
    fs::rename(root_ / "aside", there);
    EXPECT_TRUE(IsWhole(copy)) << packed;
  }
}

// Neither leaves a trace in the directories above.
TEST_F(RepositoryCopyTest, ALooseCommitThatIsRemovedOrEmptiedIsSeen) {
  RepositoryCopy copy = Copy();
  for (int i = 0; i < 1000 && !IsCurrent(copy); ++i) {  // what was written just now is never sure
    usleep(10'000);
    copy = Copy();
  }
  ASSERT_TRUE(IsCurrent(copy));
  const std::string& tip = copy.tips.front().object;
  const fs::path loose = root_ / ".git/objects" / tip.substr(0, 2) / tip.substr(2);
  fs::rename(loose, root_ / "aside");
  EXPECT_FALSE(IsCurrent(copy));
  EXPECT_FALSE(IsWhole(copy));
  std::ofstream(loose).close();
  EXPECT_FALSE(IsCurrent(copy));
  EXPECT_FALSE(IsWhole(copy));
  const ProtectedChange told = Restore(copy);
  EXPECT_FALSE(told.restored);
  EXPECT_NE(told.failure.find("the commit " + tip), std::string::npos) << told.failure;
  fs::rename(root_ / "aside", loose);
  EXPECT_TRUE(IsWhole(copy));
  EXPECT_TRUE(Restore(copy).restored);
}

// With more references than are looked for.
TEST_F(RepositoryCopyTest, TheCommitThatHeadStandsForComesFirst) {
  for (int i = 0; i < 12; ++i) {
    Commit();
    Git("branch -q a" + std::to_string(i));
  }
  Commit();
  for (const char* how : {"loose", "packed", "detached"}) {
    if (how == std::string_view("packed")) Git("pack-refs --all");
    if (how == std::string_view("detached")) Git("checkout -q --detach");
    const RepositoryCopy copy = Copy();
    const std::string packed = testing::ReadText(root_ / ".git/packed-refs");
    const std::string tip = copy.tips.front().object;
    EXPECT_EQ(Git("merge-base --is-ancestor HEAD " + tip), 0) << how;
    const fs::path object = root_ / ".git/objects" / tip.substr(0, 2) / tip.substr(2);
    fs::rename(object, root_ / "aside");
    EXPECT_FALSE(IsWhole(copy)) << how;
    fs::rename(root_ / "aside", object);
    EXPECT_TRUE(IsWhole(copy)) << how;
  }
}

// To restore what is there would be to undo what the command did.
TEST_F(RepositoryCopyTest, WantOfDescriptorsIsNoDamage) {
  const RepositoryCopy copy = Copy();
  Commit();
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int free = dup(0);
  ASSERT_GE(free, 0);
  close(free);
  for (rlim_t more = 0; more < 3; ++more) {
    const rlimit few{.rlim_cur = static_cast<rlim_t>(free) + more, .rlim_max = limit.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    const Result<bool> intact = IsIntact(copy);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (intact) {
      EXPECT_TRUE(*intact) << more;
    } else {
      EXPECT_EQ(intact.error().sys_errno, EMFILE) << more;
    }
    EXPECT_TRUE(more != 0 || !intact) << "none at all";
  }
  EXPECT_TRUE(IsWhole(copy));
}

TEST_F(RepositoryCopyTest, AllButTheObjectsComesBack) {
  const RepositoryCopy copy = Copy();
  EXPECT_EQ(copy.objects, 3U) << "a commit, a tree, a file";
  for (const auto& entry : fs::directory_iterator(root_ / ".git")) fs::remove_all(entry);
  const ProtectedChange change = Restore(copy);
  EXPECT_TRUE(change.repository);
  EXPECT_FALSE(change.restored);
  EXPECT_TRUE(change.failure.starts_with("3 of 3 objects are gone")) << change.failure;
  EXPECT_EQ(testing::ReadText(root_ / ".git/HEAD"), "ref: refs/heads/main\n");
  EXPECT_EQ(testing::ReadText(root_ / ".git/refs/heads/main"), copy.tips.front().object + "\n");
  EXPECT_EQ(testing::ReadText(root_ / ".git/refs/tags/v1"), copy.tips.front().object + "\n");
  EXPECT_TRUE(fs::is_directory(root_ / ".git/objects"));
  EXPECT_EQ(Git("symbolic-ref HEAD"), 0) << "git takes it for a repository";
}

TEST_F(RepositoryCopyTest, WhereTheObjectsAreThereNothingIsGone) {
  const RepositoryCopy copy = Copy();
  testing::WriteText(root_ / ".git/HEAD", "nothing\n");
  fs::remove_all(root_ / ".git/refs/heads");
  fs::remove_all(root_ / ".git/refs/tags");
  const ProtectedChange change = Restore(copy);
  EXPECT_TRUE(change.restored) << change.failure;
  EXPECT_TRUE(IsWhole(copy));
  EXPECT_EQ(Git("fsck"), 0);
  EXPECT_EQ(Git("rev-parse v1 main"), 0);
}

// An index of more than is held: it is gone, and nobody shall take it for restored.
TEST_F(RepositoryCopyTest, WhatWasTooMuchIsNamed) {
  const RepositoryCopy copy = Copy();
  ProtectedPath index{.path = GitDirectory() + "/index",
                      .kind = ProtectedPath::Kind::kFile,
                      .found = ProtectedPath::Found::kOther,
                      .area = root_,
                      .reason = "git repository"};
  const std::vector<GuardedPath> kept = {{index, std::make_shared<const FileImage>(), nullptr}};
  fs::remove(root_ / ".git/HEAD");
  EXPECT_TRUE(RestoreRepository(copy, kept, root_ / "displaced").why.ends_with("as they were"));
  fs::remove(root_ / ".git/HEAD");
  fs::remove(root_ / ".git/index");
  const std::string why = RestoreRepository(copy, kept, root_ / "displaced").why;
  EXPECT_TRUE(why.ends_with("but for what was too much: .git/index")) << why;
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
