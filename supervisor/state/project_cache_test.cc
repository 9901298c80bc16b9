#include "supervisor/state/project_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <filesystem>

#include "policy/caches.h"
#include "tests/support/stopped_at.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class ProjectCacheTest : public ::testing::Test {
 protected:
  ProjectCacheTest() { caches_.base = state_ / "project-actions/caches"; }

  int Make(const std::string& directory = "/srv/project") {
    const Result<void> made = MakeProjectCache(caches_, directory);
    return made ? 0 : made.error().sys_errno;
  }
  static mode_t Mode(const fs::path& path) {
    struct stat info{};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }

  pa::testing::TempDir directory_;
  fs::path state_ = fs::canonical(directory_.path()) / ".local/state";
  fs::path own_ = state_ / "project-actions/caches/srv+project";
  policy::Caches caches_;
};

TEST_F(ProjectCacheTest, IsMadeWithAllThatLeadsToItForTheUserAlone) {
  EXPECT_EQ(Make(), 0);
  EXPECT_TRUE(fs::is_directory(own_));
  for (fs::path path = own_; path != state_.parent_path(); path = path.parent_path()) {
    EXPECT_EQ(Mode(path), 0700U) << path;
  }
  pa::testing::WriteText(own_ / "kept", "x");
  EXPECT_EQ(Make(), 0);
  EXPECT_TRUE(fs::exists(own_ / "kept"));
}

// A directory whose name is longer than a name can be.
TEST_F(ProjectCacheTest, OfALongPathIsMadeInParts) {
  const std::string directory = "/srv/" + std::string(200, 'x') + "/" + std::string(200, 'y');
  ASSERT_EQ(Make(directory), 0);
  const fs::path made = policy::CacheDirectory(caches_, directory);
  EXPECT_TRUE(fs::is_directory(made));
  for (fs::path path = made; path != state_; path = path.parent_path()) {
    EXPECT_EQ(Mode(path), 0700U) << path;
  }
  ASSERT_EQ(chmod(made.parent_path().c_str(), 0777), 0);
  EXPECT_EQ(Make(directory), 0);
  EXPECT_EQ(Mode(made.parent_path()), 0700U);
}

TEST_F(ProjectCacheTest, NoCachesNothingMade) {
  caches_.base.clear();
  EXPECT_EQ(Make(), 0);
  EXPECT_FALSE(fs::exists(state_));
}

TEST_F(ProjectCacheTest, ItsModeIsMended) {
  ASSERT_EQ(Make(), 0);
  for (const mode_t mode : {0000U, 0777U, 02700U}) {
    ASSERT_EQ(chmod(own_.c_str(), mode), 0);
    EXPECT_EQ(Make(), 0);
    EXPECT_EQ(Mode(own_), 0700U);
  }
}

TEST_F(ProjectCacheTest, ASymlinkIsNotFollowedWhereverItStands) {
  const fs::path other = state_ / "other";
  fs::create_directories(other);
  fs::create_directories(own_.parent_path());
  fs::create_directory_symlink(other, own_);
  EXPECT_EQ(Make(), ENOTDIR);
  fs::remove(own_);
  EXPECT_EQ(Make(), 0);
  fs::remove_all(state_ / "project-actions");
  fs::create_directory_symlink(other, state_ / "project-actions");
  EXPECT_EQ(Make(), ENOTDIR);
  EXPECT_TRUE(fs::is_empty(other));
}

// A home that is a root: commands can exchange the directory for a symlink while it is seen to.
TEST_F(ProjectCacheTest, AnExchangeAtAnyMomentChangesNothingElse) {
  const fs::path other = state_ / "other";
  fs::create_directories(other);
  ASSERT_EQ(chmod(other.c_str(), 0755), 0);
  int call = 1;
  for (bool met = true; met; ++call) {
    fs::remove_all(state_ / "project-actions");
    ASSERT_EQ(Make(), 0);
    ASSERT_EQ(chmod(own_.c_str(), 0755), 0);
    met = testing::StoppedAt(
        call, [&] { (void)MakeProjectCache(caches_, "/srv/project"); },
        [&](pid_t) {
          fs::rename(own_, own_.parent_path() / "aside");
          fs::create_directory_symlink(other, own_);
        });
    EXPECT_EQ(Mode(other), 0755U) << "after " << call << " stops";
  }
  EXPECT_GT(call, 20) << "it was met now and then";
}

TEST_F(ProjectCacheTest, SomebodyElsesIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give directories away";
  ASSERT_EQ(Make(), 0);
  ASSERT_EQ(chown(own_.c_str(), 65534, 65534), 0);
  EXPECT_EQ(Make(), EPERM);
  EXPECT_EQ(Make("/srv/another"), 0);
  ASSERT_EQ(chown(own_.parent_path().c_str(), 65534, 65534), 0);
  EXPECT_EQ(Make("/srv/another"), EPERM);
}

TEST_F(ProjectCacheTest, WhatCannotBeMadeIsNamed) {
  pa::testing::WriteText(state_, "a file");
  const Result<void> made = MakeProjectCache(caches_, "/srv/project");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().Message().find(state_.string()), std::string::npos);
  fs::remove(state_);
  EXPECT_EQ(Make("/" + std::string(PATH_MAX - 1, 'x')), ENAMETOOLONG);
}

}  // namespace
}  // namespace pa
