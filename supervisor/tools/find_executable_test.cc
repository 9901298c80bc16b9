#include "supervisor/tools/find_executable.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class FindExecutableTest : public ::testing::Test {
 protected:
  void Add(const fs::path& path, fs::perms mode) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    fs::permissions(path, mode);
  }
  std::optional<std::string> Find(const std::string& path) {
    return FindExecutable("tool", {{"PATH", path}}, project_);
  }

  testing::TempDir dir_;
  const fs::path base_ = fs::canonical(dir_.path());
  const std::string project_ = base_ / "project";
};

TEST_F(FindExecutableTest, FirstOfThePath) {
  Add(base_ / "a/tool", fs::perms::owner_all);
  Add(base_ / "b/tool", fs::perms::owner_all);
  EXPECT_EQ(
      Find((base_ / "none").string() + ":" + (base_ / "b").string() + ":" + (base_ / "a").string()),
      base_ / "b/tool");
}

TEST_F(FindExecutableTest, OnlyExecutableRegularFiles) {
  Add(base_ / "a/tool", fs::perms::owner_read);
  fs::create_directories(base_ / "b/tool");
  EXPECT_FALSE(Find((base_ / "a").string() + ":" + (base_ / "b").string()));
}

TEST_F(FindExecutableTest, NeverFromTheProjectOrARelativeEntry) {
  Add(project_ + "/bin/tool", fs::perms::owner_all);
  fs::create_directory_symlink(project_ + "/bin", base_ / "link");
  fs::current_path(project_);
  EXPECT_FALSE(Find(project_ + "/bin"));
  EXPECT_FALSE(Find((base_ / "link").string()));
  EXPECT_FALSE(Find("bin"));
  EXPECT_FALSE(Find("::"));
  EXPECT_FALSE(Find(""));
  Add(base_ / "project-tools/tool", fs::perms::owner_all);  // the twin: no prefix of names
  EXPECT_EQ(Find((base_ / "project-tools").string()), base_ / "project-tools/tool");
}

TEST_F(FindExecutableTest, UsualPlacesWithoutAPath) {
  EXPECT_EQ(FindExecutable("sh", {}, project_), "/usr/bin/sh");
}

}  // namespace
}  // namespace pa
