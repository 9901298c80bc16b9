#include "supervisor/state/instance_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace pa {
namespace {

namespace fs = std::filesystem;

class InstanceDirTest : public ::testing::Test {
 protected:
  InstanceDirTest() {
    std::string path = ::testing::TempDir() + "instance-XXXXXX";
    base_ = mkdtemp(path.data());
  }
  ~InstanceDirTest() override { fs::remove_all(base_); }

  fs::path MakeSibling(const std::string& name, mode_t mode) {
    const fs::path path = base_ / name;
    fs::create_directories(path / "0");
    std::ofstream(path / "0/left") << "x";
    chmod(path.c_str(), mode);
    return path;
  }
  std::string Name(const std::string& suffix) {
    return "project-actions-" + std::to_string(geteuid()) + "-" + suffix;
  }
  fs::path base_;
};

TEST_F(InstanceDirTest, IsPrivateAndGoneWithItsContentsAfterwards) {
  std::string path;
  {
    const Result<InstanceDir> dir = InstanceDir::Create(base_);
    ASSERT_TRUE(dir) << dir.error().Message();
    path = dir->path();
    struct stat info{};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0700u);
    EXPECT_TRUE(dir->Exists());
    std::ofstream(path + "/file") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::is_empty(base_));
}

TEST_F(InstanceDirTest, FindsWhatADeadInstanceLeft) {
  const fs::path left = MakeSibling(Name("AbCd12"), 0700);
  const Result<InstanceDir> living = InstanceDir::Create(base_);
  ASSERT_TRUE(living);
  const std::vector<InstanceDir::Stale> stale = InstanceDir::FindStale(base_);
  ASSERT_EQ(stale.size(), 1u);
  EXPECT_EQ(stale[0].tree.name, left.filename());
  EXPECT_TRUE(InstanceDir::FindStale(base_).empty()) << "its lock is taken";
}

TEST_F(InstanceDirTest, LeavesTheLivingAndTheStrangersAlone) {
  const Result<InstanceDir> first = InstanceDir::Create(base_);
  ASSERT_TRUE(first);
  // Modes, names and kinds that we never make.
  const fs::path mode = MakeSibling(Name("AbCd12"), 0755);
  const fs::path length = MakeSibling(Name("AbCd123"), 0700);
  const fs::path user = MakeSibling("project-actions-999999-AbCd12", 0700);
  fs::create_directory(base_ / "target");
  fs::create_directory_symlink(base_ / "target", base_ / Name("LiNk00"));
  const Result<InstanceDir> second = InstanceDir::Create(base_);
  ASSERT_TRUE(second);
  EXPECT_TRUE(InstanceDir::FindStale(base_).empty());
}

TEST_F(InstanceDirTest, NoticesThatSomebodyRemovedOrReplacedIt) {
  const Result<InstanceDir> dir = InstanceDir::Create(base_);
  ASSERT_TRUE(dir);
  fs::remove(dir->path());
  EXPECT_FALSE(dir->Exists());
  fs::create_directory(dir->path());
  EXPECT_FALSE(dir->Exists());
}

TEST_F(InstanceDirTest, WithoutABaseTheErrorNamesIt) {
  const Result<InstanceDir> dir = InstanceDir::Create(base_ / "absent");
  ASSERT_FALSE(dir);
  EXPECT_EQ(dir.error().op, "mkdtemp");
  EXPECT_EQ(dir.error().sys_errno, ENOENT);
}

}  // namespace
}  // namespace pa
