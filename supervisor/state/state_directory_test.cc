#include "supervisor/state/state_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class StateDirectoryTest : public ::testing::Test {
 protected:
  StateDirectoryTest() {
    for (const char* name : {"project", "elsewhere"}) fs::create_directory(top_ / name);
    policy_.roots = {top_ / "project"};
  }
  int ErrnoOf(const std::string& state_home) {
    const auto found = FindStateDirectory(policy_, state_home, "edits");
    return found ? 0 : found.error().sys_errno;
  }

  testing::TempDir dir_;
  const fs::path top_ = fs::canonical(dir_.path());
  policy::Policy policy_;
};

TEST_F(StateDirectoryTest, OnlyItsOwnNames) {
  for (const std::string_view name : kServersDirectories) {
    EXPECT_TRUE(FindStateDirectory(policy_, top_ / "state", name)) << name;
  }
  for (const char* other : {"tokens", "", ".."}) {
    EXPECT_EQ(FindStateDirectory(policy_, top_ / "state", other).error().sys_errno, EINVAL);
  }
}

TEST_F(StateDirectoryTest, IsMadeForTheUserAlone) {
  const auto found = FindStateDirectory(policy_, top_ / "state", "edits");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, top_ / "state/project-actions/edits");
  EXPECT_FALSE(fs::exists(top_ / "state"));
  ASSERT_TRUE(MakeStateDirectory(*found));
  struct stat info{};
  ASSERT_EQ(stat(found->c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  EXPECT_TRUE(MakeStateDirectory(*found));
}

TEST_F(StateDirectoryTest, IsNoneWhereCommandsCanWrite) {
  EXPECT_EQ(ErrnoOf(""), ENOENT);
  EXPECT_EQ(ErrnoOf(top_ / "project/.local/state"), EPERM);
  policy_.filesystem = {{top_ / "elsewhere", sandbox::kReadExecute, "filesystem.read"}};
  EXPECT_EQ(ErrnoOf(top_ / "elsewhere"), 0);
  policy_.filesystem = {{top_ / "elsewhere", sandbox::kReadWrite, "filesystem.write"}};
  EXPECT_EQ(ErrnoOf(top_ / "elsewhere"), EPERM);
}

// From either side: what a command can lead elsewhere, and what leads to where it can write.
TEST_F(StateDirectoryTest, SymlinksAreNoWayAround) {
  fs::create_directory_symlink(top_ / "elsewhere", top_ / "project/out");
  EXPECT_EQ(ErrnoOf(top_ / "project/out"), EPERM);
  fs::create_directory_symlink(top_ / "project", top_ / "in");
  EXPECT_EQ(ErrnoOf(top_ / "in"), EPERM);
  fs::create_directory_symlink(top_ / "elsewhere", top_ / "link");
  const auto found = FindStateDirectory(policy_, top_ / "link", "edits");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, top_ / "elsewhere/project-actions/edits");
}

// Ours may lie elsewhere, and so may what is in it.
TEST_F(StateDirectoryTest, MayBeASymlink) {
  fs::create_directories(top_ / "state");
  fs::create_directory_symlink(top_ / "elsewhere", top_ / "state/project-actions");
  const auto found = FindStateDirectory(policy_, top_ / "state", "edits");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, top_ / "elsewhere/edits");
  EXPECT_TRUE(MakeStateDirectory(*found));
  fs::remove(top_ / "state/project-actions");
  fs::create_directory_symlink(top_ / "project", top_ / "state/project-actions");
  EXPECT_EQ(ErrnoOf(top_ / "state"), EPERM);
}

TEST_F(StateDirectoryTest, WhatIsInTheWayIsNamed) {
  testing::WriteText(top_ / "state", "a file");
  const auto found = FindStateDirectory(policy_, top_ / "state", "edits");
  ASSERT_TRUE(found);
  const Result<void> made = MakeStateDirectory(*found);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().sys_errno, ENOTDIR);
}

}  // namespace
}  // namespace pa
