#include "policy/git_state.h"

#include <gtest/gtest.h>

namespace pa::policy {
namespace {

constexpr auto kSteps = GitJudgement::kSteps;
constexpr auto kWords = GitJudgement::kWords;
constexpr auto kAuthor = GitJudgement::kAuthor;

TEST(GitState, StepsThatMakeCommitsMayCome) {
  EXPECT_TRUE(ExecutesNothingNew(kSteps, "", "pick 1 a\nf 2 b\n# x pick\n\nlabel onto\nbreak\n"));
  EXPECT_TRUE(ExecutesNothingNew(kSteps, "", "update-ref refs/heads/a\r\n\tnoop\n"));
  for (const char* line : {"exec id", "x id", "  exec id", "\tx\tid", "EXEC id", "execute", "!id",
                           "-", "pickaxe 1", ";x id"}) {
    EXPECT_FALSE(ExecutesNothingNew(kSteps, "", line)) << line;
    EXPECT_FALSE(ExecutesNothingNew(kSteps, "pick 1\n", std::string("pick 1\n") + line)) << line;
  }
  EXPECT_FALSE(ExecutesNothingNew(kSteps, "", std::string_view("pick 1\0\nexec id", 15)));
}

TEST(GitState, StepsThatStoodThereMayStayOnce) {
  EXPECT_TRUE(ExecutesNothingNew(kSteps, "pick 1\nexec make\npick 2\n", "exec make\npick 2\n"));
  EXPECT_FALSE(ExecutesNothingNew(kSteps, "exec make\n", "exec make\nexec make\n"));
  EXPECT_FALSE(ExecutesNothingNew(kSteps, "exec make\n", "exec make evil\n"));
}

TEST(GitState, QuotedWordsStayWords) {
  for (const char* text : {"", "\n", " 'a b' 'it'\\''s' ''\n", "'a'\\!'b'"}) {
    EXPECT_TRUE(ExecutesNothingNew(kWords, "", text)) << text;
  }
  for (const char* text : {"a", "'a", "'a' b", "'a'; id", "'a'\\", "'a'\\$(id)", "$(id)", "\"a\"",
                           "`id`", "'a'|'b'"}) {
    EXPECT_FALSE(ExecutesNothingNew(kWords, "", text)) << text;
  }
}

TEST(GitState, AnAuthorIsAssigned) {
  EXPECT_TRUE(ExecutesNothingNew(kAuthor, "",
                                 "GIT_AUTHOR_NAME='Ann O'\\''N'\nGIT_AUTHOR_EMAIL='a@b'\n"
                                 "GIT_AUTHOR_DATE='@1 +0100'\n"));
  for (const char* text :
       {"'id'", "PATH='x'", "GIT_AUTHOR_NAME=$(id)", "GIT_AUTHOR_NAME='a' id",
        "GIT_AUTHOR_NAME='a'\n'id'", "GIT_AUTHOR_NAME=\n", "GIT_AUTHOR_NAMES='a'"}) {
    EXPECT_FALSE(ExecutesNothingNew(kAuthor, "", text)) << text;
  }
}

bool Stays(const char* file, std::string_view after, std::string_view before = "") {
  return IsHarmlessState(std::string("/p/.git/") + file, before, after);
}

// `git rebase --continue` executes `git merge-x/evil`, and that is a path.
TEST(GitState, AStrategyIsOneOfGits) {
  for (const char* text : {"", "ort\n", "recursive", "octopus\n"}) {
    EXPECT_TRUE(Stays("rebase-merge/strategy", text)) << text;
  }
  for (const char* text : {"x/evil\n", "evil", "ort\n\n", " ort", "ort x", "../ort", "'ort'"}) {
    EXPECT_FALSE(Stays("rebase-merge/strategy", text)) << text;
    EXPECT_FALSE(Stays("rebase-merge/strategy", text, "ort")) << text;
    EXPECT_TRUE(Stays("rebase-merge/strategy", text, text)) << "the user's: " << text;
  }
}

TEST(GitState, OptionsAreThoseOfAList) {
  const char* merge = "rebase-merge/strategy_opts";
  for (const char* text :
       {"", "\n", "\"ours\" \"find-renames=50%\"\n", " '--theirs' --subtree=a/b"}) {
    EXPECT_TRUE(Stays(merge, text)) << text;
  }
  for (const char* text : {"index-output=/home/ann/.bashrc", "ours --index-output=x", "--",
                           "subtree=$(id)", "ours;id", "ou rs", "ours\tindex-output=x", "-ours"}) {
    EXPECT_FALSE(Stays(merge, text)) << text;
  }
  const char* apply = "rebase-apply/apply-opt";
  EXPECT_TRUE(Stays(apply, " '--whitespace=fix' '-C3' '-p0' '--reject'\n"));
  for (const char* text :
       {" '--build-fake-ancestor=/home/ann/.bashrc'", "'--unsafe-paths'", "-R"}) {
    EXPECT_FALSE(Stays(apply, text)) << text;
  }
  for (const std::string directory : {"rebase-merge/", "rebase-apply/"}) {
    const std::string sign = directory + "gpg_sign_opt";
    EXPECT_TRUE(Stays(sign.c_str(), "-Sann@example.org"));
    EXPECT_TRUE(Stays(sign.c_str(), "-S\n"));
    EXPECT_FALSE(Stays(sign.c_str(), "--directory=x"));
    EXPECT_FALSE(Stays(sign.c_str(), "-S$(id)"));
    const std::string rerere = directory + "allow_rerere_autoupdate";
    EXPECT_TRUE(Stays(rerere.c_str(), "--no-rerere-autoupdate\n"));
    EXPECT_FALSE(Stays(rerere.c_str(), "--interactive"));
    const std::string stash = directory + "autostash";
    EXPECT_TRUE(Stays(stash.c_str(), "00ff\n"));
    EXPECT_FALSE(Stays(stash.c_str(), "--help"));
  }
  EXPECT_FALSE(Stays("MERGE_AUTOSTASH", "stash@{0}"));
}

TEST(GitState, ASheetOfOptionsHoldsNoOthers) {
  const char* sheet = "sequencer/opts";
  EXPECT_TRUE(Stays(sheet,
                    "[options]\n\tstrategy = ort\n\tmainline = 1\n\tstrategy-option = ours\n"
                    "\tstrategy-option = find-renames=50\n\tgpg-sign = ann@example.org\n"));
  for (const char* line :
       {"strategy = x/evil", "STRATEGY=x/evil", "strategy-option = index-output=x",
        "gpg-sign = a b", "gpg-sign = $(id)", "later = x"}) {
    const std::string text = std::string("[options]\n\tedit = true\n\t") + line + "\n";
    EXPECT_FALSE(Stays(sheet, text)) << line;
    EXPECT_TRUE(Stays(sheet, text, text)) << line;
  }
  EXPECT_FALSE(Stays(sheet, "[core]\n\tedit = true\n"));
}

TEST(GitState, EachFileIsNamedOnce) {
  EXPECT_FALSE(GitStateFiles().empty());
  for (const GitStateFile& file : GitStateFiles()) EXPECT_FALSE(file.reason.empty()) << file.name;
}

}  // namespace
}  // namespace pa::policy
