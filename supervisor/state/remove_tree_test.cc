#include "supervisor/state/remove_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kPatience{60'000};

class RemoveTreeTest : public ::testing::Test {
 protected:
  RemoveTreeTest() {
    std::string path = ::testing::TempDir() + "remove-XXXXXX";
    base_ = mkdtemp(path.data());
    fs::create_directory(base_ / "tree");
  }
  ~RemoveTreeTest() override { fs::remove_all(base_); }
  fs::path base_;
};

TEST_F(RemoveTreeTest, RemovesFilesLinksAndDirectories) {
  fs::create_directories(base_ / "tree/a/b/c");
  fs::create_directories(base_ / "tree/a/d");
  std::ofstream(base_ / "tree/a/b/file") << "x";
  ASSERT_EQ(mkfifo((base_ / "tree/fifo").c_str(), 0600), 0);
  std::ofstream(base_ / "outside") << "x";
  fs::create_directory(base_ / "outside_dir");
  std::ofstream(base_ / "outside_dir/file") << "x";
  fs::create_symlink(base_ / "outside", base_ / "tree/a/link");
  fs::create_directory_symlink(base_ / "outside_dir", base_ / "tree/a/b/dirlink");
  const Result<bool> removed = RemoveTree(AT_FDCWD, base_ / "tree", kPatience);
  EXPECT_TRUE(removed) << removed.error().Message();
  EXPECT_FALSE(fs::exists(base_ / "tree"));
  EXPECT_TRUE(fs::exists(base_ / "outside"));
  EXPECT_TRUE(fs::exists(base_ / "outside_dir/file"));
}

// As root the permissions would not matter.
TEST_F(RemoveTreeTest, OpensUpWhatHasNoPermissions) {
  ASSERT_EQ(chmod(base_.c_str(), 0755), 0);
  ASSERT_TRUE(geteuid() != 0 || chown((base_ / "tree").c_str(), 65534, 65534) == 0);
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(2);
    const fs::path tree = base_ / "tree";
    fs::create_directories(tree / "shut/inner/deep");
    std::ofstream(tree / "shut/inner/file") << "x";
    for (const char* name : {"shut/inner/deep", "shut/inner", "shut", ""})
      chmod((tree / name).c_str(), 0);
    // Where the directory above is not ours to write, the top itself stays.
    (void)RemoveTree(AT_FDCWD, tree, kPatience);
    _exit(!fs::exists(tree) || fs::is_empty(tree) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(RemoveTreeTest, AnyDepthNeedsFewDescriptors) {
  UniqueFd fd(open((base_ / "tree").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(mkdirat(fd.get(), "d", 0700), 0);
    ASSERT_EQ(mkdirat(fd.get(), "e", 0700), 0);
    fd = UniqueFd(openat(fd.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(fd);
  }
  fd.reset();
  rlimit old{};
  getrlimit(RLIMIT_NOFILE, &old);
  const rlimit few{20, old.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  EXPECT_TRUE(RemoveTree(AT_FDCWD, base_ / "tree", kPatience));
  setrlimit(RLIMIT_NOFILE, &old);
  EXPECT_FALSE(fs::exists(base_ / "tree"));
}

TEST_F(RemoveTreeTest, NamesThatItUsesItselfAreNoObstacle) {
  fs::create_directories(base_ / "tree/a/b/c");
  fs::create_directories(base_ / "tree/.moved-up-0/x/y");
  EXPECT_TRUE(RemoveTree(AT_FDCWD, base_ / "tree", kPatience));
  EXPECT_FALSE(fs::exists(base_ / "tree"));
}

TEST_F(RemoveTreeTest, RefusesWhatIsNoDirectory) {
  fs::create_directory_symlink(base_ / "tree", base_ / "link");
  const Result<bool> link = RemoveTree(AT_FDCWD, base_ / "link", kPatience);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().op, "open");
  EXPECT_TRUE(fs::exists(base_ / "tree"));
  EXPECT_EQ(RemoveTree(AT_FDCWD, base_ / "absent", kPatience).error().sys_errno, ENOENT);
}

}  // namespace
}  // namespace pa
