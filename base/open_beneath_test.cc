#include "base/open_beneath.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

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

TEST(OpenPlainTest, ThroughNoSymlinkAndNoFurther) {
  const testing::TempDir dir;
  const std::string base = fs::canonical(dir.path());
  testing::WriteText(base + "/root/sub/file", "");
  fs::create_symlink("sub", base + "/root/link");
  const UniqueFd root(open((base + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_TRUE(OpenPlain(root.get(), "sub/file", O_PATH));
  EXPECT_FALSE(OpenPlain(root.get(), "link/file", O_PATH));
  EXPECT_EQ(errno, ELOOP);
  EXPECT_FALSE(OpenPlain(root.get(), "../root", O_PATH));
  EXPECT_EQ(errno, EXDEV);
  EXPECT_TRUE(OpenPlain(root.get(), "link", O_PATH | O_NOFOLLOW)) << "the symlink itself";
  EXPECT_TRUE(OpenPlain(AT_FDCWD, (base + "/root/sub").c_str(), O_PATH));
  EXPECT_FALSE(OpenPlain(AT_FDCWD, (base + "/root/link/file").c_str(), O_PATH));
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
