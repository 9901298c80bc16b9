// What a hostile command leaves in its TMPDIR is removed, and nothing else is.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/empty_directory.h"
#include "worker/worker_test_support.h"

namespace pa::worker {
namespace {

namespace fs = std::filesystem;

class TmpDirTest : public ::testing::TestWithParam<User> {
 protected:
  void SetUp() override {
    if (GetParam() == User::kNobody && geteuid() != 0)
      GTEST_SKIP() << "only root can become nobody";
    scratch_.emplace(GetParam());
  }

  // A worker that has not emptied the directory within half a second leaves the rest to the
  // supervisor. Where the disk is that busy, the test does the rest and tries again.
  Finished RunShell(const std::string& script) {
    for (int tries = 0;; ++tries) {
      const auto begin = std::chrono::steady_clock::now();
      Finished done =
          WorkerRun(Shell(*scratch_, "cd $TMPDIR; " + script), {.user = GetParam()}).Wait();
      const bool slow = std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(500);
      if (done.Last().tmp_clean == 1 || !slow || tries == 5) return done;
      EXPECT_TRUE(EmptyDirectory(AT_FDCWD, scratch_->tmp().c_str(), 60'000).value_or(false));
    }
  }

  void ExpectEmpty(const Finished& done) {
    EXPECT_EQ(done.Last().tmp_clean, 1u) << done.err;
    EXPECT_TRUE(fs::is_empty(scratch_->tmp()));
    struct stat info;
    ASSERT_EQ(stat(scratch_->tmp().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0700u);
  }

  std::optional<Scratch> scratch_;
};

INSTANTIATE_TEST_SUITE_P(Users, TmpDirTest, ::testing::Values(User::kSelf, User::kNobody),
                         [](const auto& user_info) {
                           return user_info.param == User::kSelf ? "Self" : "Nobody";
                         });

TEST_P(TmpDirTest, OrdinaryTrees) {
  const Finished done = RunShell("mkdir -p a/b/c d; touch f a/f a/b/f a/b/c/f .hidden; mkfifo p");
  ExpectEmpty(done);
}

TEST_P(TmpDirTest, DirectoriesThatNobodyMayEnter) {
  const Finished done = RunShell(
      "mkdir -p a/b/c/d e; touch a/f a/b/c/f; chmod 000 a/b/c e; chmod 555 a/b; chmod 000 a; "
      "chmod 000 $TMPDIR");
  ExpectEmpty(done);
}

TEST_P(TmpDirTest, SymlinksAreRemovedNotFollowed) {
  const fs::path outside = scratch_->path("outside");
  fs::create_directory(outside);
  std::ofstream(outside / "keep") << "x";
  chmod(outside.c_str(), 0751);
  scratch_->Give(outside);
  const Finished done = RunShell("ln -s " + outside.string() + " link; mkdir -p d/e; ln -s " +
                                 outside.string() + " d/e/link; ln -s loop loop; chmod 0 d/e");
  ExpectEmpty(done);
  EXPECT_TRUE(fs::exists(outside / "keep"));
  struct stat info;
  ASSERT_EQ(stat(outside.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0751u);
}

// H6: where a command can write beside its TMPDIR, what has taken the name is not what is emptied.
TEST_P(TmpDirTest, WhatTheCommandPutsInItsPlaceIsLeftAlone) {
  const fs::path top = scratch_->path();
  for (const char* name : {"instance", "instance/0", "victim", "victim/0", "victim/0/work"}) {
    fs::create_directory(top / name);
    scratch_->Give(top / name);
  }
  std::ofstream(top / "victim/0/work/file") << "x";
  ASSERT_EQ(chmod((top / "instance/0").c_str(), 0700), 0);
  WorkerSpec spec =
      Shell(*scratch_, "touch " + (top / "instance/0/left").string() + " && cd " + top.string() +
                           " && mv instance moved && ln -s victim instance");
  spec.tmp_dir = top / "instance/0";
  spec.paths.push_back({top, sandbox::kReadWriteExecute, "filesystem.write"});
  const Finished done = WorkerRun(spec, {.user = GetParam()}).Wait();
  EXPECT_EQ(done.Last().exit_code, 0) << done.err;
  EXPECT_EQ(done.Last().tmp_clean, 1u) << done.err;
  ASSERT_TRUE(fs::is_symlink(top / "instance")) << "the command did it";
  EXPECT_TRUE(fs::exists(top / "victim/0/work/file"));
  EXPECT_TRUE(fs::is_empty(top / "moved/0"));
}

TEST_P(TmpDirTest, NamesThatTheCleanerWouldUse) {
  const Finished done = RunShell(
      "mkdir -p .moved-0/x .moved-1/y .moved-2; touch .moved-3 .moved-2/f; mkdir -p a/b/c/d/e/f; "
      "touch a/b/c/d/e/f/g; mkdir -p .moved-4/.moved-0/.moved-1");
  ExpectEmpty(done);
}

}  // namespace
}  // namespace pa::worker
