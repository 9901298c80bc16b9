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
    const FoundExecutable found = FindExecutable("tool", {{"PATH", path}}, &policy_);
    passed_over_ = found.passed_over;
    return found.path;
  }

  testing::TempDir dir_;
  const fs::path base_ = fs::canonical(dir_.path());
  const std::string project_ = base_ / "project";
  policy::Policy policy_{.roots = {base_ / "roots", project_}};
  std::string passed_over_;
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
  EXPECT_EQ(passed_over_, "");
}

// Commands can write in every root, not only where this call works, and in what filesystem.write
// names.
TEST_F(FindExecutableTest, NeverFromWhereAnyCommandCanWrite) {
  policy_.filesystem = {{base_ / "out", sandbox::kReadWriteExecute, "filesystem.write"}};
  for (const char* place : {"roots/other/bin", "out/bin"}) {
    const std::string planted = base_ / place;
    Add(planted + "/tool", fs::perms::owner_all);
    EXPECT_FALSE(Find(planted));
    EXPECT_EQ(passed_over_, planted + "/tool");
    Add(base_ / "safe/tool", fs::perms::owner_all);
    EXPECT_EQ(Find(planted + ":" + (base_ / "safe").string()), base_ / "safe/tool");
    EXPECT_EQ(FindExecutable("tool", {{"PATH", planted}}, nullptr).path, planted + "/tool");
  }
}

TEST_F(FindExecutableTest, UsualPlacesWithoutAPath) {
  EXPECT_EQ(FindExecutable("sh", {}, &policy_).path, "/usr/bin/sh");
}

}  // namespace
}  // namespace pa
