#include "supervisor/state/git_identity.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class GitIdentityTest : public ::testing::Test {
 protected:
  GitIdentityTest() {
    policy_.home = home_;
    policy_.config_home = home_ / ".config";
    policy_.caches.base = home_ / "state/caches";
  }
  void WriteHome(const std::string& name, const std::string& text) {
    testing::WriteText(home_ / name, text);
  }
  std::map<std::string, std::string> Files() {
    GitIdentityFound found = FindGitIdentity(policy_.home, policy_.config_home);
    warning_ = found.warning;
    return found.files;
  }
  const GitIdentity::Given& For(GitIdentity& identity) {
    const GitIdentity::Given* known = identity.Known(policy_);
    if (known != nullptr) return *known;
    return identity.Take(policy_, FindGitIdentity(policy_.home, policy_.config_home));
  }
  std::string Main() {
    const auto files = Files();
    EXPECT_EQ(warning_, "");
    const auto found = files.find("config");
    return found == files.end() ? "" : found->second;
  }

  testing::TempDir dir_;
  fs::path home_ = fs::canonical(dir_.path());
  policy::Policy policy_;
  std::string warning_;
};

// A file that was just written may be written again within the same tick.
void LetSettle() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

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
  GitIdentity identity;
  ASSERT_NE(identity.Known(policy_), nullptr) << "nobody has to look";
  EXPECT_EQ(For(identity).directory, "");
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
  const auto files = Files();
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files.at("config"), "[includeIf \"gitdir:" + (home_ / "dot/work/").string() +
                                    "\"]\n\tpath = config-1\n"
                                    "[includeIf \"gitdir:~/a b/\"]\n\tpath = config-2\n");
  EXPECT_EQ(files.at("config-1"), "[user]\n\temail = \"work\"\n");
}

TEST_F(GitIdentityTest, WhatCannotBeReadIsSaid) {
  WriteHome(".config/git/config", "[user]\n\tname = Ann\n");
  fs::create_directory(home_ / ".gitconfig");
  EXPECT_EQ(Files().size(), 1u);
  EXPECT_TRUE(warning_.contains((home_ / ".gitconfig").string())) << warning_;
  fs::remove(home_ / ".gitconfig");
  ASSERT_EQ(mkfifo((home_ / ".gitconfig").c_str(), 0600), 0);
  Files();
  EXPECT_NE(warning_, "");
  fs::remove(home_ / ".gitconfig");
  WriteHome(".gitconfig", "[include]\n\tpath = .gitconfig\n");
  Files();
  EXPECT_TRUE(warning_.contains("too many includes")) << warning_;
}

TEST_F(GitIdentityTest, LiesInADirectoryOfItsOwn) {
  WriteHome(".gitconfig", "[user]\n\tname = Ann\n[alias]\n\tx = !id\n");
  GitIdentity identity;
  const std::string directory = For(identity).directory;
  EXPECT_TRUE(directory.starts_with(policy_.caches.base + "/.identity/")) << directory;
  EXPECT_EQ(testing::ReadText(directory + "/config"), "[user]\n\tname = \"Ann\"\n");
  EXPECT_EQ(fs::status(directory).permissions(), fs::perms::owner_all);
  GitIdentity another;
  EXPECT_EQ(For(another).directory, directory) << "of another server";
  int files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(directory)) ++files;
  EXPECT_EQ(files, 1);
}

TEST_F(GitIdentityTest, FollowsTheUsersFiles) {
  GitIdentity identity;
  EXPECT_EQ(For(identity).directory, "");
  WriteHome("dot/gitconfig", "[user]\n\tname = Ann\n");
  fs::create_symlink("dot/gitconfig", home_ / ".gitconfig");
  LetSettle();
  const std::string first = For(identity).directory;
  EXPECT_NE(first, "");
  LetSettle();
  EXPECT_EQ(For(identity).directory, first);
  WriteHome("dot/gitconfig", "[user]\n\tname = Bob\n");
  const std::string second = For(identity).directory;
  EXPECT_EQ(testing::ReadText(second + "/config"), "[user]\n\tname = \"Bob\"\n");
  EXPECT_NE(second, first);
  LetSettle();
  For(identity);
  testing::WriteText(fs::path(second) / "config", "[alias]\n");
  For(identity);
  EXPECT_EQ(testing::ReadText(second + "/config"), "[user]\n\tname = \"Bob\"\n") << "restored";
  fs::remove_all(policy_.caches.base);
  For(identity);
  EXPECT_TRUE(fs::exists(fs::path(second) / "config"));
  policy_.git.inherit_identity = false;
  EXPECT_EQ(For(identity).directory, "");
  policy_.git.inherit_identity = true;
  EXPECT_EQ(For(identity).directory, second);
  fs::remove(home_ / "dot/gitconfig");
  EXPECT_EQ(For(identity).directory, "");
}

TEST_F(GitIdentityTest, WithoutAPlaceThereIsNone) {
  WriteHome(".gitconfig", "[user]\n\tname = Ann\n");
  policy_.caches.base = "";
  GitIdentity none;
  EXPECT_EQ(For(none).directory, "");
  policy_.caches.base = home_ / ".gitconfig";
  GitIdentity identity;
  EXPECT_EQ(For(identity).directory, "");
  EXPECT_TRUE(For(identity).warning.starts_with("commits of the command lack the user's "))
      << For(identity).warning;
}

}  // namespace
}  // namespace pa
