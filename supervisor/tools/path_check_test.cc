#include "supervisor/tools/path_check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class PathCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(work_ / "sub/deep");
    fs::create_directories(base_ / "outside");
    std::ofstream(work_ / "file") << "x";
    std::ofstream(base_ / "outside/secret") << "x";
    policy_.roots = {work_};
  }
  bool Inside(const std::string& path) {
    const auto directory = policy::ValidateWorkingDirectory(policy_, "");
    return !WhyOutside(directory.value(), path);
  }

  testing::TempDir dir_;
  const fs::path base_ = fs::canonical(dir_.path());
  const fs::path work_ = base_ / "work";
  policy::Policy policy_;
};

TEST_F(PathCheckTest, OrdinaryPaths) {
  for (const char* path : {"file", "sub", "sub/deep/", ".", "./file", "sub/../file", "sub/deep/..",
                           "a name", ":(glob)*", "-A", "--all", "..file", "sub/..."}) {
    EXPECT_TRUE(Inside(path)) << path;
  }
}

TEST_F(PathCheckTest, WhatIsGoneCanBeStaged) {
  EXPECT_TRUE(Inside("missing"));
  EXPECT_TRUE(Inside("missing/deep/er/file"));
  EXPECT_TRUE(Inside("file/beneath"));
}

TEST_F(PathCheckTest, WaysOut) {
  for (const char* path : {"/etc/passwd", "..", "../outside", "sub/../../outside/secret",
                           "missing/../../outside", "missing/sub/../../..", "/"}) {
    EXPECT_FALSE(Inside(path)) << path;
  }
  EXPECT_FALSE(Inside(work_ / "file"));  // absolute, though inside
  EXPECT_FALSE(Inside(std::string("file\0x", 6)));
}

TEST_F(PathCheckTest, SymlinksCountByWhereTheyLead) {
  fs::create_directory_symlink(base_ / "outside", work_ / "out");
  fs::create_symlink(base_ / "outside/secret", work_ / "secret");
  fs::create_symlink("../outside/missing", work_ / "dangling");
  fs::create_symlink("/nowhere/at/all", work_ / "nowhere");
  fs::create_symlink("dangling", work_ / "twice");
  fs::create_symlink("loop", work_ / "loop");
  for (const char* path : {"out", "out/secret", "out/new", "secret", "dangling", "nowhere", "twice",
                           "loop", "out/../file"}) {
    EXPECT_FALSE(Inside(path)) << path;
  }
  fs::create_symlink("sub/deep", work_ / "in");
  fs::create_symlink("sub/missing", work_ / "dangling_in");
  fs::create_symlink(work_ / "file", work_ / "absolute_in");
  for (const char* path : {"in", "in/new", "dangling_in", "absolute_in"}) {
    EXPECT_TRUE(Inside(path)) << path;
  }
}

}  // namespace
}  // namespace pa
