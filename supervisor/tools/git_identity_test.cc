#include "supervisor/tools/git_identity.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class GitIdentityTest : public ::testing::Test {
 protected:
  GitIdentityTest() {
    policy_.home = home_;
    policy_.config_home = home_ / ".config";
  }
  void WriteHome(const std::string& name, const std::string& text) {
    testing::WriteText(home_ / name, text);
  }
  std::string Main() {
    const GitIdentity identity = ReadGitIdentity(policy_);
    EXPECT_EQ(identity.warning, "");
    const auto found = identity.files.find(std::string(kIdentityFile));
    return found == identity.files.end() ? "" : found->second;
  }

  testing::TempDir dir_;
  fs::path home_ = fs::canonical(dir_.path());
  policy::Policy policy_;
};

TEST_F(GitIdentityTest, HoldsWhoCommitsAndNothingElse) {
  WriteHome(
      ".gitconfig",
      "[user]\n\tname = Ann \\\"A\\\"\n\temail = a@b\n\tsigningKey = secret\n\tuseConfigOnly\n"
      "[committer]\n\tname = \"back\\\\slash\"\n"
      "[http]\n\textraHeader = token\n[alias]\n\tx = !id\n[core]\n\thooksPath = /x\n");
  EXPECT_EQ(Main(),
            "[user]\n\tname = \"Ann \\\"A\\\"\"\n[user]\n\temail = \"a@b\"\n"
            "[user]\n\tuseconfigonly\n[committer]\n\tname = \"back\\\\slash\"\n");
}

TEST_F(GitIdentityTest, ThereMayBeNone) {
  EXPECT_EQ(Main(), "");
  WriteHome(".gitconfig", "[core]\n\teditor = vi\n[include]\n\tpath = missing\n");
  EXPECT_EQ(Main(), "");
  WriteHome(".gitconfig", "[user]\n\tname = Ann\n");
  policy_.git.inherit_identity = false;
  EXPECT_EQ(Main(), "");
}

TEST_F(GitIdentityTest, IncludesAreFollowed) {
  WriteHome(".config/git/config", "[user]\n\tname = First\n[include]\n\tpath = more\n");
  WriteHome(".config/git/more", "[user]\n\tname = Second\n");
  WriteHome(".gitconfig", "[include]\n\tpath = ~/dot/third\n");
  WriteHome("dot/third", "[user]\n\tname = Third\n");
  EXPECT_EQ(
      Main(),
      "[user]\n\tname = \"First\"\n[user]\n\tname = \"Second\"\n[user]\n\tname = \"Third\"\n");
}

TEST_F(GitIdentityTest, ConditionsAreLeftToGit) {
  WriteHome(
      "dot/config",
      "[includeIf \"gitdir:./work/\"]\n\tpath = w\n[includeIf \"gitdir:~/a b/\"]\n\tpath = w\n"
      "[includeIf \"onbranch:x\"]\n\tpath = nobody\n");
  WriteHome("dot/w", "[user]\n\temail = work\n");
  WriteHome("dot/nobody", "[core]\n\teditor = vi\n");
  WriteHome(".gitconfig", "[include]\n\tpath = dot/config\n");
  const GitIdentity identity = ReadGitIdentity(policy_);
  ASSERT_EQ(identity.files.size(), 3u);
  EXPECT_EQ(identity.files.at(".pa-gitconfig"),
            "[includeIf \"gitdir:" + (home_ / "dot/work/").string() +
                "\"]\n\tpath = .pa-gitconfig-1\n"
                "[includeIf \"gitdir:~/a b/\"]\n\tpath = .pa-gitconfig-2\n");
  EXPECT_EQ(identity.files.at(".pa-gitconfig-1"), "[user]\n\temail = \"work\"\n");
}

TEST_F(GitIdentityTest, WhatCannotBeReadIsSaid) {
  WriteHome(".config/git/config", "[user]\n\tname = Ann\n");
  fs::create_directory(home_ / ".gitconfig");
  GitIdentity identity = ReadGitIdentity(policy_);
  EXPECT_EQ(identity.files.size(), 1u);
  EXPECT_TRUE(identity.warning.contains((home_ / ".gitconfig").string())) << identity.warning;
  fs::remove(home_ / ".gitconfig");
  ASSERT_EQ(mkfifo((home_ / ".gitconfig").c_str(), 0600), 0);
  EXPECT_NE(ReadGitIdentity(policy_).warning, "");
  fs::remove(home_ / ".gitconfig");
  WriteHome(".gitconfig", "[include]\n\tpath = .gitconfig\n");
  identity = ReadGitIdentity(policy_);
  EXPECT_TRUE(identity.warning.contains("too many includes")) << identity.warning;
}

}  // namespace
}  // namespace pa
