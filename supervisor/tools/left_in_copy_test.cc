#include "supervisor/tools/left_in_copy.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/digest.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class LeftInCopyTest : public ::testing::Test {
 protected:
  fs::path Put(const std::string& name, const std::string& text) {
    const fs::path path = dir_.path() / name;
    fs::create_directories(path.parent_path());
    testing::WriteText(path, text);
    return path;
  }
  fs::path Object(const std::string& text) {
    const std::string hash = Hex(Sha256Of(text));
    return Put("lfs/objects/" + hash.substr(0, 2) + "/" + hash.substr(2, 2) + "/" + hash, text);
  }
  Result<bool> Check() { return CheckLfsObjects(dir_.path() / "lfs"); }
  std::string Others(const std::string& commit = std::string(40, 'a')) {
    std::string text;
    for (const std::string& name : OtherChanges(dir_.path(), repository_.path(), commit))
      text += name + "\n";
    return text;
  }

  testing::TempDir dir_;
  testing::TempDir repository_;
};

TEST_F(LeftInCopyTest, ObjectsOfLfs) {
  EXPECT_EQ(Check().value_or(true), false);
  Put("lfs/tmp/x", "x");
  EXPECT_EQ(Check().value_or(true), false);
  fs::create_directories(dir_.path() / "lfs/objects");
  EXPECT_EQ(Check().value_or(true), false);
  Object("");
  Object(std::string(600 << 10, 'x'));
  EXPECT_EQ(Check().value_or(false), true);
}

TEST_F(LeftInCopyTest, WhatIsNoObjectIsAnError) {
  const auto refused = [&](const fs::path& path) {
    const bool was = !Check().has_value();
    fs::remove_all(path);
    return was && Check().value_or(false);
  };
  const fs::path object = Object("whole");
  const fs::path place = object.parent_path();
  ASSERT_TRUE(Check().value_or(false));
  EXPECT_TRUE(refused(Put("lfs/objects/ab/cd/abcd", "short")));
  EXPECT_TRUE(refused(Put("lfs/objects/file", "x")));
  EXPECT_TRUE(refused(Put("lfs/objects/ab/file", "x")));
  EXPECT_TRUE(refused(Put("lfs/objects/ab/cd/deep/file", "x").parent_path()));
  const fs::path changed = Object("changed");
  testing::WriteText(changed, "changeD");
  EXPECT_TRUE(refused(changed));
  const fs::path elsewhere = dir_.path() / "lfs/objects/00/00" / object.filename();
  fs::create_directories(elsewhere.parent_path());
  fs::copy(object, elsewhere);
  EXPECT_TRUE(refused(elsewhere));
  const fs::path fifo = place / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_TRUE(refused(fifo));
}

TEST_F(LeftInCopyTest, SymlinksAreRemoved) {
  const fs::path object = Object("whole");
  const fs::path link = dir_.path() / "lfs/objects/ab";
  fs::create_directory_symlink("/etc", link);
  fs::create_symlink("/etc/passwd", object.parent_path() / std::string(64, 'a'));
  EXPECT_EQ(Check().value_or(false), true);
  EXPECT_FALSE(fs::exists(fs::symlink_status(link)));
  EXPECT_FALSE(fs::exists(fs::symlink_status(object.parent_path() / std::string(64, 'a'))));
  fs::remove_all(dir_.path() / "lfs");
  fs::create_directory_symlink("/etc", dir_.path() / "lfs");
  EXPECT_FALSE(Check().has_value());
}

TEST_F(LeftInCopyTest, OtherChangesAreNamed) {
  const std::string commit(40, 'a');
  for (const char* name : {"index", "COMMIT_EDITMSG", "logs/HEAD", "objects/aa/bb", "MERGE_HEAD"}) {
    Put(name, "x");
  }
  Put("refs/heads/topic/x", commit + "\n");
  Put("HEAD", commit + "\n");
  Put("worktrees/w/HEAD", commit + "\n");
  Put("worktrees/w/index", "x");
  EXPECT_EQ(Others(), "");
  Put("refs/tags/v1", commit + "\n");
  Put("refs/heads/other", std::string(40, 'b') + "\n");
  Put("new", "x");
  Put("config", "x");
  testing::WriteText(repository_.path() / "config", "");
  Put("worktrees/w/gitdir", "x");
  Put("HEAD", "ref: refs/heads/other\n");
  EXPECT_EQ(Others(), "HEAD\nconfig\nrefs/heads/other\nrefs/tags/v1\nworktrees/w/gitdir\n");
  // The agent's code chooses how much there is, and its modes.
  fs::create_directories(dir_.path() / "refs/heads/many");
  for (int i = 0; i < 11'000; ++i) {
    testing::WriteText(dir_.path() / "refs/heads/many" / std::to_string(i), commit + "\n");
  }
  EXPECT_TRUE(Others().contains("refs/heads/many\n")) << Others();
  fs::remove_all(dir_.path() / "refs/heads/many");
  if (geteuid() != 0) {
    fs::permissions(dir_.path() / "refs", fs::perms::none);
    EXPECT_TRUE(Others().contains("refs\n")) << Others();
    fs::permissions(dir_.path() / "refs", fs::perms::owner_all);
  }
  for (int i = 0; i < 20; ++i) Put("d" + std::to_string(i) + "/x", "x");
  EXPECT_EQ(OtherChanges(dir_.path(), repository_.path(), commit).size(), kMaxOther);
}

}  // namespace
}  // namespace pa
