#include "supervisor/tools/git_porcelain.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(GitPorcelainTest, CommandsThatLookForThemselves) {
  for (const char* command :
       {"git status", "git status --porcelain", " git  diff\t--stat HEAD~1 ",
        "git --no-pager log -3", "git diff | head -50",
        "git status && git diff --cached; git log -1 --format=%H",
        "cd sub && git status || echo no", "git show HEAD:a.txt > old.txt", "git describe --dirty",
        "git diff --quiet && echo clean\ngit status", "git ls-files -m 2>/dev/null | wc -l"}) {
    EXPECT_TRUE(LooksForItself(command)) << command;
  }
}

TEST(GitPorcelainTest, OthersAndWhateverMayBeOne) {
  for (const char* command : {"git diff-index --quiet HEAD",
                              "git diff-files",
                              "git update-index -q --refresh; git status",
                              "git status; git diff-index HEAD",
                              "git status && ./version.sh",
                              "make version",
                              "git",
                              "git --no-pager",
                              "git -c alias.status=diff-index status",
                              "git -C sub status",
                              "echo $(git diff-index HEAD)",
                              "echo `git diff-files`",
                              "cat <(git diff-files)",
                              "git describe --broken",
                              "git \\\ndiff-files",
                              "(git diff-files)",
                              "{ git diff-files; }",
                              "X=1 git diff-files",
                              "sh -c 'git diff-files'",
                              "git log --format='a; git diff-files'",
                              "git status &\ngit diff-files",
                              "$git status",
                              "'git' diff-files",
                              "xargs git diff-files"}) {
    EXPECT_FALSE(LooksForItself(command)) << command;
  }
}

}  // namespace
}  // namespace pa
