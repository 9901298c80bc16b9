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

TEST(GitState, EachFileIsNamedOnce) {
  EXPECT_FALSE(GitStateFiles().empty());
  for (const GitStateFile& file : GitStateFiles()) EXPECT_FALSE(file.reason.empty()) << file.name;
}

}  // namespace
}  // namespace pa::policy
