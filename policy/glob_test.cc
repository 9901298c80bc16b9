#include "policy/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace pa::policy {
namespace {

TEST(Glob, MatchesTheWholeName) {
  EXPECT_TRUE(GlobMatch("deploy*", "deploy"));
  EXPECT_TRUE(GlobMatch("deploy*", "deploy-all"));
  EXPECT_FALSE(GlobMatch("deploy*", "re-deploy"));
  EXPECT_TRUE(GlobMatch("*deploy", "re-deploy"));
  EXPECT_FALSE(GlobMatch("deploy", "deploy-all"));
  EXPECT_TRUE(GlobMatch("t?st", "test"));
  EXPECT_FALSE(GlobMatch("t?st", "tst"));
  EXPECT_TRUE(GlobMatch("*", ""));
  EXPECT_FALSE(GlobMatch("?", ""));
  EXPECT_TRUE(GlobMatch("", ""));
  EXPECT_FALSE(GlobMatch("", "x"));
  EXPECT_TRUE(GlobMatch("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(GlobMatch("a*b*c", "a-c-b"));
  EXPECT_TRUE(GlobMatch("[a]", "[a]"));  // no other wildcard
}

TEST(Glob, ManyStarsAreNoTrap) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "*a";
  EXPECT_FALSE(GlobMatch(pattern + "b", std::string(2000, 'a')));
  EXPECT_TRUE(GlobMatch(pattern, std::string(2000, 'a')));
}

}  // namespace
}  // namespace pa::policy
