#include "base/path_stamp.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/unique_fd.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class PathStampTest : public ::testing::Test {
 protected:
  PathStampTest() { testing::WriteText(file_, "text"); }
  static void LetTheClockMove() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

  testing::TempDir dir_;
  const fs::path file_ = dir_.path() / "file";
};

TEST_F(PathStampTest, EveryWayToTouchAFileMovesIt) {
  const auto moves = [&](auto touch) {
    const PathStamp before = LookAt(file_);
    EXPECT_EQ(LookAt(file_), before);
    LetTheClockMove();
    touch();
    return LookAt(file_) != before;
  };
  EXPECT_TRUE(moves([&] { testing::WriteText(file_, "same"); }));
  EXPECT_TRUE(moves([&] { chmod(file_.c_str(), 0700); }));
  EXPECT_TRUE(moves([&] { link(file_.c_str(), (dir_.path() / "other").c_str()); }));
  EXPECT_TRUE(moves([&] { fs::remove(file_); }));
  EXPECT_TRUE(moves([&] { fs::create_symlink("other", file_); }));
  EXPECT_FALSE(moves([] {}));
}

// Whoever sets the times of a file back moves its ctime by that.
TEST_F(PathStampTest, TimesThatAreSetBackHideNothing) {
  struct stat status{};
  stat(file_.c_str(), &status);
  const PathStamp before = LookAt(file_);
  LetTheClockMove();
  testing::WriteText(file_, "evil");
  const timespec times[] = {status.st_atim, status.st_mtim};
  utimensat(AT_FDCWD, file_.c_str(), times, 0);
  const PathStamp after = LookAt(file_);
  EXPECT_EQ(after.modified_ns, before.modified_ns);
  EXPECT_NE(after, before);
}

TEST_F(PathStampTest, WhatIsYoungIsNotSettled) {
  // On a loaded machine it may be old by the time that it is looked at.
  bool settled = true;
  for (int i = 0; settled && i < 100; ++i) {
    testing::WriteText(file_, "young");
    settled = LookAt(file_).Settled();
  }
  EXPECT_FALSE(settled);
  LetTheClockMove();
  EXPECT_TRUE(LookAt(file_).Settled());
  EXPECT_TRUE(LookAt(dir_.path() / "nothing").Settled());
}

TEST_F(PathStampTest, TypesAndIdentity) {
  fs::create_symlink(file_, dir_.path() / "link");
  EXPECT_TRUE(LookAt(dir_.path()).IsDirectory());
  EXPECT_TRUE(LookAt(file_).IsRegular());
  EXPECT_TRUE(LookAt(dir_.path() / "link").IsSymlink());
  EXPECT_FALSE(LookAt(dir_.path() / "nothing").exists);
  const PathStamp before = LookAt(file_);
  testing::WriteText(file_, "longer than before");
  EXPECT_TRUE(LookAt(file_).SameFile(before));
  EXPECT_FALSE(LookAt(dir_.path()).SameFile(before));
  EXPECT_FALSE(PathStamp{}.SameFile(PathStamp{}));
  const UniqueFd fd(open(dir_.path().c_str(), O_PATH | O_CLOEXEC));
  EXPECT_EQ(LookAt(fd.get(), "file"), LookAt(file_));
}

}  // namespace
}  // namespace pa
