// What commands leave behind, with real commands: worker/tmp_dir_test.cc.
#include "base/empty_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/unique_fd.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPatience = 60'000;

TEST(EmptyDirectory, RefusesASymlinkAndWhatIsNotThere) {
  const testing::TempDir scratch;
  fs::create_directory(scratch.path() / "kept");
  fs::create_directory(scratch.path() / "kept/inner");
  fs::create_directory_symlink(scratch.path() / "kept", scratch.path() / "link");
  EXPECT_FALSE(EmptyDirectory(AT_FDCWD, (scratch.path() / "link").c_str(), kPatience));
  EXPECT_FALSE(EmptyDirectory(AT_FDCWD, (scratch.path() / "absent").c_str(), kPatience));
  EXPECT_TRUE(fs::exists(scratch.path() / "kept/inner"));
  EXPECT_TRUE(
      EmptyDirectory(AT_FDCWD, (scratch.path() / "kept").c_str(), kPatience).value_or(false));
  EXPECT_TRUE(fs::is_empty(scratch.path() / "kept"));
}

TEST(EmptyDirectory, GoesOnWhereItsTimeWasOver) {
  const testing::TempDir scratch;
  const fs::path top = scratch.path() / "top";
  for (int i = 0; i < 3000; ++i)
    fs::create_directories(top / std::to_string(i % 50) / std::to_string(i));
  SysResult<bool> done = false;
  for (int calls = 0; done && !*done; ++calls) {
    ASSERT_LT(calls, 10'000);
    done = EmptyDirectory(AT_FDCWD, top.c_str(), 0);
  }
  EXPECT_TRUE(done);
  EXPECT_TRUE(fs::is_empty(top));
}

// To remove so many takes more than no time at all.
TEST(EmptyDirectory, ALittleIsRemovedHoweverLateItIs) {
  const testing::TempDir scratch;
  const fs::path top = scratch.path() / "top";
  for (int i = 0; i < 3000; ++i) fs::create_directories(top / std::to_string(i));
  const SysResult<bool> in_no_time = EmptyDirectory(AT_FDCWD, top.c_str(), 0, 10);
  ASSERT_TRUE(in_no_time);
  EXPECT_FALSE(*in_no_time);
  EXPECT_TRUE(EmptyDirectory(AT_FDCWD, top.c_str(), 0, 10'000).value_or(false));
  EXPECT_TRUE(fs::is_empty(top));
}

// More than the kernel tells of at a time, whose names go while they are read.
TEST(EmptyDirectory, ManyFiles) {
  const testing::TempDir scratch;
  const fs::path top = scratch.path() / "top";
  for (int i = 0; i < 3000; ++i) {
    for (const fs::path& in : {top, top / "d"}) testing::WriteText(in / std::to_string(i), "");
  }
  EXPECT_TRUE(EmptyDirectory(AT_FDCWD, top.c_str(), kPatience).value_or(false));
  EXPECT_TRUE(fs::is_empty(top));
}

// Deeper than PATH_MAX, any stack and any descriptor table. In memory where that can be had: a disk
// takes milliseconds for each directory that it removes.
TEST(EmptyDirectory, AVeryDeepTree) {
  const bool in_memory = access("/dev/shm", W_OK) == 0;
  std::string top =
      (in_memory ? "/dev/shm" : fs::temp_directory_path().string()) + "/pa-deep-XXXXXX";
  ASSERT_NE(mkdtemp(top.data()), nullptr);
  int at = open(top.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (int depth = in_memory ? 100'000 : 3'000; depth > 0; --depth) {
    ASSERT_EQ(mkdirat(at, "d", 0700), 0);
    const int next = openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
    close(at);
    at = next;
  }
  close(at);
  EXPECT_TRUE(EmptyDirectory(AT_FDCWD, top.c_str(), kPatience).value_or(false));
  EXPECT_EQ(rmdir(top.c_str()), 0);
}

// What has taken its name meanwhile is somebody else's.
TEST(EmptyHeldDirectory, IsTheOneThatWasOpened) {
  const testing::TempDir scratch;
  const fs::path tmp = scratch.path() / "tmp";
  const fs::path victim = scratch.path() / "victim";
  testing::WriteText(tmp / "a/b", "x");
  testing::WriteText(victim / "a/b", "x");
  const UniqueFd held(open(tmp.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  ASSERT_TRUE(held);
  fs::rename(tmp, scratch.path() / "moved");
  fs::create_directory_symlink(victim, tmp);
  ASSERT_EQ(chmod((scratch.path() / "moved").c_str(), 0), 0);
  EXPECT_TRUE(EmptyHeldDirectory(held.get(), "tmp", kPatience).value_or(false));
  EXPECT_TRUE(fs::is_empty(scratch.path() / "moved"));
  EXPECT_TRUE(fs::exists(victim / "a/b"));
}

}  // namespace
}  // namespace pa
