// Held against git itself, in each format that it writes.
#include "policy/git_index.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;
using Links = std::vector<std::string>;

class GitIndexTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (access("/usr/bin/git", X_OK) != 0) GTEST_SKIP() << "no git here";
  }
  bool Git(std::vector<std::string> arguments) {
    std::vector<std::string> command = {"git"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return pa::testing::RunProgram({.command = std::move(command),
                                    .environment = {"HOME=/nonexistent"},
                                    .directory = root_})
               .exit_code == 0;
  }
  // Files with names of many lengths, and two gitlinks among them.
  void Fill(const std::string& format, const std::string& version) {
    ASSERT_TRUE(Git({"init", "-q", "--object-format=" + format}));
    const std::string oid(format == "sha1" ? 40 : 64, '1');
    for (std::size_t i = 1; i < 40; ++i)
      pa::testing::WriteText(root_ / ("d/" + std::string(i, 'x')), "x");
    for (const std::string& link : links_) {
      ASSERT_TRUE(Git({"update-index", "--add", "--cacheinfo", "160000," + oid + "," + link}));
    }
    ASSERT_TRUE(Git({"add", "d"}));
    ASSERT_TRUE(Git({"update-index", "--index-version=" + version}));
  }
  GitIndex Read() { return ReadGitIndex(pa::testing::ReadText(root_ / ".git/index")); }

  pa::testing::TempDir dir_;
  const fs::path root_ = dir_.path();
  const Links links_ = {"a", "e/xxxxsub", "lib/deep/er", "z z"};
};

TEST_F(GitIndexTest, InEachFormat) {
  for (const char* format : {"sha1", "sha256"}) {
    for (const char* version : {"2", "3", "4"}) {
      fs::remove_all(root_ / ".git");
      Fill(format, version);
      EXPECT_EQ(Read().links, links_) << format << version;
      EXPECT_EQ(Read().shared, "");
    }
  }
}

TEST_F(GitIndexTest, WithFlagsOfEntries) {
  Fill("sha1", "2");
  pa::testing::WriteText(root_ / "later", "x");
  ASSERT_TRUE(Git({"add", "--intent-to-add", "later"}));
  ASSERT_TRUE(Git({"update-index", "--skip-worktree", "d/x", "lib/deep/er"}));
  EXPECT_EQ(Read().links, links_);
}

TEST_F(GitIndexTest, ASplitOneNamesTheOther) {
  Fill("sha1", "2");
  ASSERT_TRUE(Git({"update-index", "--split-index"}));
  const GitIndex index = Read();
  ASSERT_TRUE(fs::exists(root_ / ".git" / index.shared)) << index.shared;
  EXPECT_EQ(ReadGitIndex(pa::testing::ReadText(root_ / ".git" / index.shared)).links, links_);
}

TEST_F(GitIndexTest, NothingWithoutGitlinks) {
  ASSERT_TRUE(Git({"init", "-q"}));
  pa::testing::WriteText(root_ / "x", "");
  ASSERT_TRUE(Git({"add", "x"}));
  EXPECT_TRUE(Read().links.empty());
  EXPECT_TRUE(ReadGitIndex("").links.empty());
  EXPECT_TRUE(ReadGitIndex("DIRC").links.empty());
}

TEST_F(GitIndexTest, HostileOnesEnd) {
  for (const char* version : {"2", "4"}) {
    fs::remove_all(root_ / ".git");
    Fill("sha1", version);
    const std::string bytes = pa::testing::ReadText(root_ / ".git/index");
    for (std::size_t size = 0; size < bytes.size(); ++size) ReadGitIndex(bytes.substr(0, size));
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
      std::string broken = bytes;
      for (int j = 0; j < 3; ++j) broken[random() % 400] = static_cast<char>(random());
      for (const std::string& link : ReadGitIndex(broken).links) {
        EXPECT_FALSE(link.empty() || link.starts_with('/') || ("/" + link + "/").contains("/../"));
      }
    }
  }
}

}  // namespace
}  // namespace pa::policy
