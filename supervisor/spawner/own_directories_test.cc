#include "supervisor/spawner/own_directories.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class OwnDirectoriesTest : public ::testing::Test {
 protected:
  testing::TempDir dir_;
  fs::path base_ = fs::canonical(dir_.path());
  fs::path state_ = base_ / "local/state/pa";
  OwnDirectories own_;
};

TEST_F(OwnDirectoriesTest, AreMadeAndRemovedWithTheirParents) {
  own_.Make(state_);
  EXPECT_EQ(fs::status(state_).permissions(), fs::perms::owner_all);
  own_.RemoveEmpty(state_);
  EXPECT_TRUE(fs::is_empty(base_));
}

TEST_F(OwnDirectoriesTest, WhatHoldsSomethingStays) {
  own_.Make(state_);
  own_.Make(base_ / "local/log");
  testing::WriteText(base_ / "local/state/file", "");
  own_.RemoveEmpty(state_);
  EXPECT_FALSE(fs::exists(state_));
  EXPECT_FALSE(fs::exists(base_ / "local/log"));
  EXPECT_TRUE(fs::exists(base_ / "local/state/file"));
}

TEST_F(OwnDirectoriesTest, InAStateDirectoryThatWasThereTheyStay) {
  fs::create_directories(state_);
  own_.Make(state_ / "edits");
  own_.Make(base_ / "results");
  own_.RemoveEmpty(state_);
  EXPECT_TRUE(fs::exists(state_ / "edits"));
  EXPECT_FALSE(fs::exists(base_ / "results"));
  OwnDirectories first;
  fs::remove_all(state_);
  first.Make(state_ / "edits");
  first.Make(state_ / "trash");
  first.RemoveEmpty(state_);
  EXPECT_FALSE(fs::exists(state_)) << "nobody has used it";
}

TEST_F(OwnDirectoriesTest, WhatWasThereStays) {
  fs::create_directories(state_);
  own_.Make(state_);
  own_.RemoveEmpty(state_);
  EXPECT_TRUE(fs::is_directory(state_));
}

TEST_F(OwnDirectoriesTest, SoDoesWhatAnotherServerReaches) {
  own_.Make(state_);
  OwnDirectories another;
  another.Make(state_);
  own_.RemoveEmpty(state_);
  EXPECT_TRUE(fs::is_directory(state_));
  another.RemoveEmpty(state_);
  EXPECT_TRUE(fs::is_directory(state_)) << "it was there";
}

TEST_F(OwnDirectoriesTest, WhatCannotBeMadeIsNotThere) {
  testing::WriteText(base_ / "local", "a file");
  own_.Make(state_);
  fs::create_directory(base_ / "elsewhere");
  fs::create_directory_symlink(base_ / "elsewhere", base_ / "link");
  own_.Make(base_ / "link");
  own_.RemoveEmpty(state_);
  EXPECT_TRUE(fs::is_regular_file(base_ / "local"));
  EXPECT_TRUE(fs::is_symlink(base_ / "link"));
}

}  // namespace
}  // namespace pa
