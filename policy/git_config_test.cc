// Held against git itself: what `git config --list` says of the same text.
#include "policy/git_config.h"

#include <gtest/gtest.h>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa::policy {
namespace {

std::vector<GitVariable> Parse(std::string_view text) {
  return ParseGitConfig(text).value_or(std::vector<GitVariable>{});
}
using Variables = std::vector<GitVariable>;

TEST(GitConfig, WhatGitWrites) {
  EXPECT_EQ(Parse("[core]\n\trepositoryformatversion = 0\n\thooksPath = .githooks\n"
                  "[remote \"origin\"]\n\turl = x\n"),
            (Variables{{"core.repositoryformatversion", "0"},
                       {"core.hookspath", ".githooks"},
                       {"remote.origin.url", "x"}}));
}

TEST(GitConfig, WhatPeopleWrite) {
  EXPECT_EQ(Parse("\xEF\xBB\xBF[CORE] hooksPath=a b ; comment\r\n"),
            (Variables{{"core.hookspath", "a b"}}));
  EXPECT_EQ(Parse("[core]\nhooksPath = \"a # b \"# comment"),
            (Variables{{"core.hookspath", "a # b "}}));
  EXPECT_EQ(Parse("[core]\nhooksPath = a\\\n\\tb\\\\c\\\"d\n"),
            (Variables{{"core.hookspath", "a\tb\\c\"d"}}));
  EXPECT_EQ(Parse("[core]\nbare\n[includeIf \"gitdir:~/A\\\"\\\\B/\"]path=x"),
            (Variables{{"core.bare", ""}, {"includeif.gitdir:~/A\"\\B/.path", "x"}}));
  EXPECT_EQ(Parse("[Submodule.Lib]\npath = p"), (Variables{{"submodule.lib.path", "p"}}));
  EXPECT_EQ(Parse("# [core]\n;hooksPath = x\n"), Variables{});
}

TEST(GitConfig, WhatGitWouldNotReadHidesNothingBehindIt) {
  for (const char* broken : {"[core", "[core \"x", "[core] a b\n", "[core]\na = \"x\n",
                             "[core]\na = \\x\n", "[core]\n=\n", "]", "\"", "[]\n", "[ \"x\"]\n"}) {
    const Variables variables = Parse(std::string(broken) + "\n[core]\nhooksPath = h\n");
    ASSERT_FALSE(variables.empty()) << broken;
    EXPECT_EQ(variables.back(), (GitVariable{"core.hookspath", "h"})) << broken;
  }
}

// git gives the file up there; a name that is half of a section's must not look like another's.
TEST(GitConfig, WithoutASectionNothingIsSet) {
  for (const char* broken : {"", "[core", "[core \"x", "[core] x y\n[core \"\n", "[co=]\n"}) {
    EXPECT_EQ(Parse(std::string(broken) + "\nhooksPath = h\n"), Variables{}) << broken;
  }
}

TEST(GitConfig, AnyBytesAreRead) {
  for (int first = 0; first < 256; ++first) {
    for (const char* rest : {"", "\n", "\"", "\\", "[a]\nb = c"}) {
      Parse(std::string(1, static_cast<char>(first)) + rest);
      Parse("[a]\nb = " + std::string(1, static_cast<char>(first)) + rest);
    }
  }
}

TEST(GitConfig, SaysWhatGitSays) {
  const std::string text =
      "[core]\n\teditor = a\\\n  b   \n  pager = \" x\"y\" z \"  # no\n\tfilemode\n"
      "[alias \"Sub.Sec]tion\"] co = \"a;b\" ;c\n[i]\n  a-b=1\n\tc = \\\"q\\\"\n\td=x\\\n#y\n";
  const pa::testing::TempDir dir;
  pa::testing::WriteText(dir.path() / "config", text);
  const pa::testing::ProgramResult git = pa::testing::RunProgram(
      {.command = {"git", "config", "--list", "--null", "--file", dir.path() / "config"},
       .directory = dir.path()});
  std::string ours;
  for (const GitVariable& variable : Parse(text)) {
    const bool plain = variable.name == "core.filemode";  // git tells `a` from `a =`
    ours += variable.name + (plain ? "" : "\n" + variable.value) + '\0';
  }
  EXPECT_EQ(ours, git.output);
}

}  // namespace
}  // namespace pa::policy
