#include "base/open_beneath.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "tests/support/deny_call.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

TEST(OpenBeneathTest, WithinAndNoFurther) {
  const testing::TempDir dir;
  testing::WriteText(dir.path() / "root/sub/file", "");
  testing::WriteText(dir.path() / "outside", "");
  fs::create_symlink("../sub/../sub/file", dir.path() / "root/sub/link");
  fs::create_symlink("../outside", dir.path() / "root/out");
  const UniqueFd root(open((dir.path() / "root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const char* path : {"sub/file", "sub/../sub/file", "sub/link", "."}) {
    EXPECT_TRUE(OpenBeneath(root.get(), path, O_PATH)) << path;
  }
  for (const char* path : {"out", "../outside", "sub/../../outside", "/etc/passwd"}) {
    EXPECT_FALSE(OpenBeneath(root.get(), path, O_PATH)) << path;
    EXPECT_EQ(errno, EXDEV) << path;
  }
  EXPECT_FALSE(OpenBeneath(root.get(), "none", O_PATH));
  EXPECT_EQ(errno, ENOENT);
}

class OpenPlainTest : public ::testing::Test {
 protected:
  OpenPlainTest() {
    testing::WriteText(base_ + "/root/sub/file", "");
    fs::create_symlink("sub", base_ + "/root/link");
    root_ = UniqueFd(open((base_ + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  void Refused(int at, const std::string& path, int flags, int error) {
    EXPECT_FALSE(OpenPlain(at, path.c_str(), flags)) << path;
    EXPECT_EQ(errno, error) << path;
  }
  void ThroughNoSymlinkAndNoFurther() {
    const int root = root_.get();
    EXPECT_TRUE(OpenPlain(root, "sub/file", O_PATH));
    EXPECT_TRUE(OpenPlain(root, "./sub//file", O_RDONLY));
    EXPECT_TRUE(OpenPlain(root, "sub/", O_RDONLY | O_DIRECTORY));
    EXPECT_TRUE(OpenPlain(root, "link", O_PATH | O_NOFOLLOW)) << "the symlink itself";
    EXPECT_TRUE(OpenPlain(AT_FDCWD, (base_ + "/root/sub").c_str(), O_PATH));
    EXPECT_TRUE(OpenPlain(AT_FDCWD, "/", O_PATH));
    Refused(root, "link/file", O_PATH, ELOOP);
    Refused(root, "link", O_PATH, ELOOP);
    Refused(root, "link", O_PATH | O_DIRECTORY, ELOOP);
    Refused(root, "../root", O_PATH, EXDEV);
    Refused(root, base_, O_PATH, EXDEV);
    Refused(root, "none/file", O_PATH, ENOENT);
    Refused(root, "sub/file/x", O_PATH, ENOTDIR);
    Refused(AT_FDCWD, base_ + "/root/link/file", O_PATH, ELOOP);
    Refused(AT_FDCWD, "", O_PATH, ENOENT);
  }

  const testing::TempDir dir_;
  const std::string base_ = fs::canonical(dir_.path());
  UniqueFd root_;
};

TEST_F(OpenPlainTest, ThroughNoSymlinkAndNoFurther) { ThroughNoSymlinkAndNoFurther(); }

TEST_F(OpenPlainTest, AlsoWhereOpenat2IsDenied) {
  const pid_t child = fork();
  if (child == 0) {
    const bool denied = testing::DenyCall(SYS_openat2, EPERM);
    EXPECT_FALSE(OpenBeneath(root_.get(), "sub", O_PATH)) << "it is denied";
    ThroughNoSymlinkAndNoFurther();
    _exit(denied && !HasFailure() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// Whoever renames something else somewhere else keeps nobody from his files.
TEST(OpenBeneathTest, AlsoWhileOthersRename) {
  const testing::TempDir dir;
  testing::WriteText(dir.path() / "root/sub/file", "");
  testing::WriteText(dir.path() / "a", "");
  const UniqueFd root(open((dir.path() / "root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string a = dir.path() / "a";
  const std::string b = dir.path() / "b";
  const pid_t renamer = fork();
  while (renamer == 0) {
    rename(a.c_str(), b.c_str());
    rename(b.c_str(), a.c_str());
  }
  int failed = 0;
  for (int i = 0; i < 5000; ++i) {
    failed += OpenBeneath(root.get(), "sub/../sub/../sub/file", O_PATH) ? 0 : 1;
  }
  EXPECT_EQ(failed, 0);
  kill(renamer, SIGKILL);
  waitpid(renamer, nullptr, 0);
}

}  // namespace
}  // namespace pa
