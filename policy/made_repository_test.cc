#include "policy/made_repository.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <climits>
#include <filesystem>

#include "base/path_stamp.h"
#include "tests/support/deep_directory.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;
using pa::testing::ReadText;
using pa::testing::WriteText;

class MadeRepositoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Git({"init", "-q", "-b", "main", "origin"});
    Git({"-C", "origin", "commit", "-q", "--allow-empty", "-m", "first"});
  }
  void Git(std::vector<std::string> arguments) {
    std::vector<std::string> command = {
        "git", "-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=b"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const pa::testing::ProgramResult git = pa::testing::RunProgram(
        {.command = std::move(command),
         .environment = {"HOME=" + dir_.path().string(), "GIT_CONFIG_NOSYSTEM=1"},
         .directory = dir_.path()});
    ASSERT_EQ(git.exit_code, 0) << git.output << git.errors;
  }
  std::string At(const std::string& path) { return dir_.path() / path; }
  std::vector<Foreign> Find(const std::string& directory) { return FindForeign(At(directory)); }
  std::vector<Foreign> FindLink(const std::string& link, std::vector<KeptDirectory> kept = {},
                                std::int64_t since_ns = 0) {
    return FindForeign({.path = At(link), .kind = RepositoryBelow::Kind::kLink},
                       {.directory = dir_.path(), .kept = kept, .since_ns = since_ns});
  }

  pa::testing::TempDir dir_;
};

TEST_F(MadeRepositoryTest, WhatGitMakesHasNothingForeign) {
  Git({"-C", "origin", "submodule", "--quiet", "add", At("origin"), "sub/one"});
  Git({"-C", "origin", "commit", "-q", "-m", "submodule"});
  Git({"clone", "-q", "--recurse-submodules", At("origin"), "clone"});
  Git({"clone", "-q", "--mirror", At("origin"), "mirror.git"});
  Git({"clone", "-q", "--depth=1", "--sparse", "file://" + At("origin"), "partial"});
  Git({"-C", "clone", "checkout", "-q", "-b", "topic", "--track", "origin/main"});
  Git({"-C", "clone", "worktree", "add", "-q", "../tree"});
  Git({"-C", "clone", "config", "user.name", "Ann \"x\" # \\ ; Author"});
  for (const char* made : {"origin/.git", "clone/.git", "mirror.git", "partial/.git"}) {
    for (const Foreign& foreign : Find(made)) ADD_FAILURE() << foreign.path << ": " << foreign.what;
  }
  EXPECT_TRUE(FindLink("clone/sub/one/.git").empty());
  EXPECT_TRUE(FindLink("tree/.git").empty());
}

TEST_F(MadeRepositoryTest, WhatGitExecutesIsForeign) {
  for (const char* name : {"core.fsmonitor",
                           "core.hookspath",
                           "core.sshcommand",
                           "core.pager",
                           "core.editor",
                           "core.askpass",
                           "core.gitproxy",
                           "core.attributesfile",
                           "core.worktree",
                           "filter.x.clean",
                           "filter.x.process",
                           "diff.external",
                           "diff.x.command",
                           "diff.x.textconv",
                           "merge.x.driver",
                           "mergetool.x.cmd",
                           "alias.st",
                           "credential.helper",
                           "credential.https://x.helper",
                           "include.path",
                           "includeif.gitdir:/.path",
                           "gpg.program",
                           "gpg.ssh.program",
                           "remote.origin.uploadpack",
                           "remote.origin.vcs",
                           "remote.origin.receivepack",
                           "submodule.x.update",
                           "pager.log",
                           "uploadpack.packobjectshook",
                           "url.x.insteadof",
                           "protocol.ext.allow",
                           "sequence.editor",
                           "browser.x.cmd",
                           "interactive.difffilter",
                           "trailer.x.command",
                           "tar.x.command",
                           "core.x.bare",
                           "bare",
                           "man.x.cmd",
                           "branch.x.mergeoptions",
                           "http.proxy"}) {
    EXPECT_FALSE(IsAllowedVariable(name, "!sh -c x")) << name;
  }
  EXPECT_FALSE(IsAllowedVariable("remote.origin.url", "ext::sh -c x"));
  EXPECT_FALSE(IsAllowedVariable("remote.origin.url", "--upload-pack=x"));
  EXPECT_TRUE(IsAllowedVariable("remote.origin.url", "https://[::1]/x"));
  EXPECT_TRUE(IsAllowedVariable("remote.a.b.url", "git@example.com:x"));
  EXPECT_TRUE(IsAllowedVariable("submodule.x.update", "rebase"));
}

TEST_F(MadeRepositoryTest, TheRestOfTheConfigurationStays) {
  Git({"-C", "origin", "config", "core.fsmonitor", "./evil"});
  Git({"-C", "origin", "config", "alias.st", "!evil"});
  Git({"-C", "origin", "remote", "add", "upstream", "https://example.com/a;b"});
  const std::vector<Foreign> found = Find("origin/.git");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path, At("origin/.git/config"));
  EXPECT_EQ(found[0].what, "alias.st, core.fsmonitor");
  WriteText(At("origin/.git/config"), *found[0].instead);
  EXPECT_TRUE(Find("origin/.git").empty()) << *found[0].instead;
  Git({"-C", "origin", "status"});
  Git({"-C", "origin", "remote", "get-url", "upstream"});
}

// What this reader and git's could read differently is not believed.
TEST_F(MadeRepositoryTest, UnusualSpellingsAreForeign) {
  const std::string config = ReadText(At("origin/.git/config"));
  using namespace std::string_literals;
  for (const std::string& odd :
       {"[core]\n\tbare = fal\\\n se\n"s, "[core] bare = false\n"s, "[core\n]\n"s,
        "[user]\n\tname = \"a\n"s, "garbage\n"s, "[user]\n\tname = a\rb\n"s,
        "[user]\n\tname = a\0[core]\n\tfsmonitor = x\n"s, "[remote \"a\\\"b\"]\n"s,
        "[user]\n\tna_me = x\n"s}) {
    WriteText(At("origin/.git/config"), config + odd);
    EXPECT_EQ(Find("origin/.git").size(), 1u) << odd;
  }
  WriteText(At("origin/.git/config"),
            config + "# a comment\n\n; another\n[user]\n\tname = a # b\n");
  EXPECT_TRUE(Find("origin/.git").empty());
}

TEST_F(MadeRepositoryTest, HooksAreForeignAndSamplesAreNot) {
  WriteText(At("origin/.git/hooks/pre-commit.sample"), "x");
  EXPECT_TRUE(Find("origin/.git").empty());
  WriteText(At("origin/.git/hooks/pre-commit"), "x");
  EXPECT_EQ(Find("origin/.git").at(0).path, At("origin/.git/hooks/pre-commit"));
  fs::remove_all(At("origin/.git/hooks"));
  fs::create_directory_symlink("/tmp", At("origin/.git/hooks"));
  EXPECT_EQ(Find("origin/.git").at(0).path, At("origin/.git/hooks"));
}

TEST_F(MadeRepositoryTest, SoIsWhatLeadsElsewhere) {
  WriteText(At("origin/.git/commondir"), "../../evil\n");
  EXPECT_EQ(Find("origin/.git").at(0).path, At("origin/.git/commondir"));
  fs::remove(At("origin/.git/commondir"));
  Git({"init", "-q", "--bare", "evil"});
  Git({"-C", "evil", "config", "core.fsmonitor", "x"});
  WriteText(At("a/.git"), "gitdir: ../evil\n");
  EXPECT_EQ(FindLink("a/.git").at(0).path, At("evil/config"));
  EXPECT_TRUE(FindLink("a/.git", {{At("evil")}}).empty());  // it is the user's, and looked after
  WriteText(At("a/.git"), "gitdir: /tmp\n");
  EXPECT_EQ(FindLink("a/.git").at(0).path, At("a/.git"));
  WriteText(At("a/.git"), "nothing\n");
  EXPECT_EQ(FindLink("a/.git").at(0).path, At("a/.git"));
  WriteText(At("a/.git"), "gitdir: ../evil/x\n");
  WriteText(At("evil/x/commondir"), "../../origin/.git\n");
  EXPECT_EQ(FindLink("a/.git").at(0).what,
            "it leads to a repository that has no such working tree");
  fs::remove(At("origin/.git/config"));
  fs::create_symlink("../evil", At("origin/.git/config"));
  EXPECT_EQ(Find("origin/.git").at(0).what, "it cannot be read");
}

// Git goes there step by step and finds it all.
TEST_F(MadeRepositoryTest, WhatHasTooLongAPathIsForeign) {
  const std::string git = "/.git";
  const pa::testing::DeepDirectory deep(dir_.path(), PATH_MAX - 2 - git.size());
  ASSERT_EQ(mkdirat(deep.fd.get(), ".git", 0700), 0);
  ASSERT_TRUE(LookAt(deep.path + git).exists);
  EXPECT_EQ(FindForeign(deep.path + git).size(), 6u) << "nothing in it can be looked at";
  fs::create_directories(At("short/.git"));
  EXPECT_TRUE(Find("short/.git").empty()) << "it is known that there is nothing";
}

// A repository that is looked after is no place for another one that nobody looks at.
TEST_F(MadeRepositoryTest, WhatIsHiddenInAKeptOneIsJudged) {
  Git({"init", "-q", "--bare", "origin/.git/evil"});
  Git({"-C", "origin/.git/evil", "config", "core.fsmonitor", "x"});
  WriteText(At("a/.git"), "gitdir: ../origin/.git/evil\n");
  EXPECT_EQ(FindLink("a/.git", {{At("origin/.git")}}).at(0).path, At("origin/.git/evil/config"));
  EXPECT_TRUE(FindLink("a/.git", {{At("origin/.git"), true}}).empty()) << "a mount keeps all";
  EXPECT_TRUE(FindLink("a/.git", {{At("origin/.git/evil")}}).empty());
  Git({"-C", "origin", "worktree", "add", "-q", "../tree"});
  Git({"-C", "origin", "config", "alias.st", "status"});
  EXPECT_TRUE(FindLink("tree/.git", {{At("origin/.git")}}).empty());
}

TEST_F(MadeRepositoryTest, AnOlderOneMayBeTheUsers) {
  Git({"init", "-q", "--bare", "evil"});
  WriteText(At("a/.git"), "gitdir: ../evil\n");
  const auto evil = Identify(At("evil"), RepositoryBelow::Kind::kBare);
  const std::int64_t born = (*evil)->born_ns;
  if (born == 0) GTEST_SKIP() << "the file system knows no birth";
  EXPECT_TRUE(FindLink("a/.git", {}, born).empty());
  EXPECT_EQ(FindLink("a/.git", {}, born + 1).at(0).path, At("a/.git"));
}

TEST_F(MadeRepositoryTest, WhatIsTooMuchToBeJudgedGoesAsAWhole) {
  const std::string hooks = At("origin/.git/hooks");
  for (int i = 0; i < 1024; ++i) WriteText(hooks + "/a" + std::to_string(i), "");
  EXPECT_EQ(Find("origin/.git").size(), 1024u);
  WriteText(hooks + "/post-checkout", "");
  ASSERT_EQ(Find("origin/.git").size(), 1u);
  EXPECT_EQ(Find("origin/.git")[0].path, At("origin/.git"));
  EXPECT_FALSE(Find("origin/.git")[0].instead);
  fs::remove_all(hooks);
  for (int i = 0; i < 20'001; ++i)
    fs::create_directories(hooks + "/" + std::to_string(i) + ".sample");
  EXPECT_EQ(Find("origin/.git").at(0).path, At("origin/.git"));
}

TEST_F(MadeRepositoryTest, FewOfManyVariablesAreNamed) {
  std::string config = "[x]\n";
  for (int i = 100'000; i < 200'000; ++i) config += "v" + std::to_string(i) + "\n";
  WriteText(At("origin/.git/config"), config);
  const std::vector<Foreign> found = Find("origin/.git");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].what.starts_with("x.v100000, ")) << found[0].what;
  EXPECT_TRUE(found[0].what.ends_with(" and 99992 more")) << found[0].what;
  // Each variable has the name of its section.
  config = "[x \"" + std::string(500'000, 'a') + "\"]\n";
  for (int i = 0; i < 200'000; ++i) config += "a\n";
  WriteText(At("origin/.git/config"), config);
  EXPECT_EQ(Find("origin/.git").at(0).what, "the names of its variables take more than 8 MiB");
}

TEST_F(MadeRepositoryTest, ModulesAreJudgedToo) {
  Git({"-C", "origin", "submodule", "--quiet", "add", At("origin"), "sub/one"});
  const std::string module = "origin/.git/modules/sub/one/";
  WriteText(At(module + "hooks/post-checkout"), "x");
  EXPECT_EQ(Find("origin/.git").at(0).path, At(module + "hooks/post-checkout"));
  fs::remove(At(module + "hooks/post-checkout"));
  Git({"config", "--file", At(module + "config"), "core.worktree", "../../../../../../.."});
  EXPECT_EQ(Find("origin/.git").at(0).what, "core.worktree");
}

}  // namespace
}  // namespace pa::policy
