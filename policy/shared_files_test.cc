#include "policy/shared_files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;

class SharedFilesTest : public ::testing::Test {
 protected:
  SharedFilesTest() { testing::WriteText(store_, "module.exports = 1\n"); }

  // As a package manager does.
  void Link(const fs::path& name) {
    fs::create_directories((root_ / name).parent_path());
    fs::create_hard_link(store_, root_ / name);
  }
  std::string Found() const {
    const auto found = FindSharedFile(root_);
    return found ? fs::path(*found).lexically_relative(root_).string() : "";
  }

  testing::TempDir directory_;
  fs::path base_ = fs::canonical(directory_.path());
  fs::path root_ = base_ / "src";
  fs::path store_ = base_ / "store/ab/cdef";
};

TEST_F(SharedFilesTest, WhereverAPackageManagerLinksThem) {
  for (const std::string name :
       {"node_modules/a/index.js", "node_modules/.pnpm/a@1/node_modules/a/dist/x.js",
        ".venv/lib/python3.11/site-packages/a/b.py", "venv/lib/python3.11/site-packages/a.py",
        "project/node_modules/@scope/a/index.js", "project/.venv/lib/x.so"}) {
    EXPECT_EQ(Found(), "");
    Link(name);
    EXPECT_EQ(Found(), name);
    fs::remove_all(root_);
  }
}

TEST_F(SharedFilesTest, CopiesAndTheProjectsOwnLinksAreNone) {
  testing::WriteText(root_ / "node_modules/a/index.js", "module.exports = 1\n");
  fs::create_symlink(store_, root_ / "node_modules/a/link.js");
  Link("src/index.js");
  Link("project/src/node.js");
  Link("a/b/node_modules/c.js");  // not opened as a project of its own from here
  EXPECT_EQ(Found(), "");
}

TEST_F(SharedFilesTest, NoSymlinkLeadsElsewhere) {
  Link(base_ / "other/node_modules/a/index.js");
  fs::create_directories(root_);
  fs::create_directory_symlink(base_ / "other", root_ / "project");
  fs::create_directory_symlink(base_ / "other/node_modules", root_ / "node_modules");
  EXPECT_EQ(Found(), "");
}

TEST_F(SharedFilesTest, TheLookIsBounded) {
  fs::path deep = "node_modules";
  for (int i = 0; i < 40; ++i) deep /= "d";
  Link(deep / "index.js");
  EXPECT_EQ(Found(), "");
  fs::remove_all(root_);
  Link(".venv/a.py");
  EXPECT_EQ(Found(), ".venv/a.py");
  for (int i = 0; i < 8; ++i) fs::create_directories(root_ / "node_modules" / std::to_string(i));
  EXPECT_EQ(Found(), ".venv/a.py");
  EXPECT_FALSE(FindSharedFile(root_, 8)) << "what is looked at first used the look up";
}

TEST_F(SharedFilesTest, NothingThereNothingFound) {
  EXPECT_EQ(Found(), "");
  testing::WriteText(root_, "a file");
  EXPECT_EQ(Found(), "");
}

}  // namespace
}  // namespace pa::policy
