#include "supervisor/clients/user_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;
using testing::ReadText;
using testing::WriteText;

class UserFileTest : public ::testing::Test {
 protected:
  Result<UserFile> Read(const fs::path& path) { return ReadUserFile(path, base_); }
  static mode_t ModeOf(const fs::path& path) {
    struct stat status{};
    return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
  }
  std::size_t Names(const fs::path& directory) const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
  }

  testing::TempDir dir_;
  fs::path base_ = fs::canonical(dir_.path());
};

TEST_F(UserFileTest, AFileIsReplacedAndKeepsItsModeAndAttributes) {
  const fs::path path = base_ / "a";
  WriteText(path, "old");
  chmod(path.c_str(), 0640);
  const bool attributes = setxattr(path.c_str(), "user.note", "mine", 4, 0) == 0;
  const auto file = Read(path);
  ASSERT_TRUE(file) << file.error().Message();
  EXPECT_EQ(file->content, "old");
  const auto done = ReplaceUserFile(*file, "new");
  ASSERT_TRUE(done) << done.error().Message();
  EXPECT_EQ(ReadText(path), "new");
  EXPECT_EQ(ModeOf(path), 0640u);
  char value[8] = {};
  EXPECT_EQ(getxattr(path.c_str(), "user.note", value, sizeof value) == 4, attributes)
      << "where the file system has them";
  EXPECT_EQ(Names(base_), 1u) << "nothing else is left";
}

TEST_F(UserFileTest, ANewFileComesWithItsDirectories) {
  const fs::path path = base_ / "x/y/a";
  const auto file = Read(path);
  ASSERT_TRUE(file) << file.error().Message();
  EXPECT_FALSE(file->exists);
  EXPECT_FALSE(fs::exists(base_ / "x")) << "reading makes nothing";
  const mode_t old = umask(027);
  const auto done = ReplaceUserFile(*file, "new");
  umask(old);
  ASSERT_TRUE(done) << done.error().Message();
  EXPECT_EQ(ReadText(path), "new");
  EXPECT_EQ(ModeOf(path), 0640u);
  EXPECT_EQ(ModeOf(base_ / "x"), 0750u);
}

TEST_F(UserFileTest, WhatALinkLeadsToIsReplacedAndTheLinkStays) {
  WriteText(base_ / "dotfiles/a", "old");
  fs::create_directory(base_ / "home");
  fs::create_symlink("../dotfiles/a", base_ / "home/a");
  const auto file = Read(base_ / "home/a");
  ASSERT_TRUE(file) << file.error().Message();
  EXPECT_EQ(file->path, base_ / "dotfiles/a");
  ASSERT_TRUE(ReplaceUserFile(*file, "new"));
  EXPECT_TRUE(fs::is_symlink(base_ / "home/a"));
  EXPECT_EQ(ReadText(base_ / "dotfiles/a"), "new");
  fs::create_symlink("nowhere", base_ / "lost");
  EXPECT_EQ(Read(base_ / "lost").error().sys_errno, ENOENT);
}

TEST_F(UserFileTest, WhatSomebodyElseHasChangedIsLeftAlone) {
  WriteText(base_ / "a", "old");
  const auto file = Read(base_ / "a");
  const auto none = Read(base_ / "b");
  ASSERT_TRUE(file && none);
  WriteText(base_ / "a", "newer");
  WriteText(base_ / "b", "newer");
  EXPECT_EQ(ReplaceUserFile(*file, "new").error().sys_errno, ESTALE);
  EXPECT_EQ(ReplaceUserFile(*none, "new").error().sys_errno, ESTALE);
  EXPECT_EQ(ReadText(base_ / "a") + ReadText(base_ / "b"), "newernewer");
  EXPECT_EQ(Names(base_), 2u);
}

// While the user reads the diff, a command in his project makes a symlink of what he has agreed to.
TEST_F(UserFileTest, NoSymlinkThatCameMeanwhileIsFollowed) {
  WriteText(base_ / "there/a", "old");
  const auto file = Read(base_ / "there/a");
  const auto none = Read(base_ / "none/a");
  ASSERT_TRUE(file && none);
  WriteText(base_ / "home/a", "old");
  const auto planted = [&](const fs::path& name) {
    fs::create_directory_symlink(base_ / "home", base_ / name);
  };
  fs::rename(base_ / "there", base_ / "moved");
  planted("there");
  EXPECT_EQ(ReplaceUserFile(*file, "new").error().sys_errno, ELOOP);
  fs::remove(base_ / "home/a");
  planted("none");
  EXPECT_EQ(ReplaceUserFile(*none, "new").error().sys_errno, ELOOP);
  EXPECT_TRUE(fs::is_empty(base_ / "home"));
  fs::remove(base_ / "there");
  fs::rename(base_ / "moved", base_ / "there");
  fs::rename(base_ / "there/a", base_ / "a");
  fs::create_symlink(base_ / "a", base_ / "there/a");
  EXPECT_EQ(ReplaceUserFile(*file, "new").error().sys_errno, ELOOP);
  EXPECT_EQ(ReadText(base_ / "a"), "old");
}

TEST_F(UserFileTest, WhatIsTooLargeOrNoFileIsRefused) {
  WriteText(base_ / "full", std::string(kMaxUserFile, 'x'));
  WriteText(base_ / "large", std::string(kMaxUserFile + 1, 'x'));
  EXPECT_TRUE(Read(base_ / "full"));
  EXPECT_EQ(Read(base_ / "large").error().sys_errno, EFBIG);
  ASSERT_EQ(mkfifo((base_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(Read(base_ / "fifo").error().sys_errno, EINVAL);
  fs::create_directory(base_ / "directory");
  EXPECT_EQ(Read(base_ / "directory").error().sys_errno, EINVAL);
  EXPECT_EQ(Read(base_ / "full/a").error().sys_errno, ENOTDIR);
}

TEST_F(UserFileTest, WhatBelongsToAnotherUserIsLeftAlone) {
  const bool root = geteuid() == 0;
  // As root somebody's home, as anybody else what is root's.
  const fs::path foreign = root ? base_ / "home" : fs::path("/etc");
  if (root) {
    WriteText(foreign / "a", "his");
    ASSERT_EQ(chown(foreign.c_str(), 1, 1), 0);
  }
  const auto file = ReadUserFile(foreign / "pa-no-such-file", foreign);
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().Message().find("run it as its owner"), std::string::npos);
  // Through a link of our own, too.
  fs::create_symlink(foreign, base_ / "link");
  EXPECT_FALSE(ReadUserFile(base_ / "link/pa-no-such-file", base_));
  // And what of his is a link to something of ours.
  if (root) {
    fs::create_symlink(base_ / "ours", foreign / "b");
    WriteText(base_ / "ours", "ours");
    EXPECT_FALSE(ReadUserFile(foreign / "b", foreign));
    EXPECT_TRUE(ReadUserFile(base_ / "ours", base_));
  }
}

TEST_F(UserFileTest, WhatIsReadOnlyStaysSo) {
  if (geteuid() == 0) GTEST_SKIP() << "nothing is read-only to root";
  WriteText(base_ / "a", "old");
  chmod((base_ / "a").c_str(), 0400);
  const auto file = Read(base_ / "a");
  ASSERT_TRUE(file);
  EXPECT_EQ(ReplaceUserFile(*file, "new").error().sys_errno, EACCES);
  EXPECT_EQ(ReadText(base_ / "a"), "old");
  EXPECT_EQ(Names(base_), 1u);
}

}  // namespace
}  // namespace pa
