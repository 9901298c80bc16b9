#include "supervisor/tools/glob_plan.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

// `directory|name`, then what else there is.
std::string Of(std::string_view pattern) {
  const GlobPlan plan = PlanGlob(pattern);
  std::string text = plan.directory + "|" + plan.name;
  if (plan.shallow) text += " shallow";
  if (plan.hidden) text += " hidden";
  if (!plan.exact.empty()) text += " exact " + plan.exact;
  return text;
}

TEST(GlobPlan, TheLastComponentIsAFilter) {
  EXPECT_EQ(Of("*.c"), "|*.c");
  EXPECT_EQ(Of("**/*.c"), "|*.c");
  EXPECT_EQ(Of("**/**/*.{c,h}"), "|*.{c,h}");
  EXPECT_EQ(Of("**"), "|*");
  EXPECT_EQ(Of("Makefile"), "|Makefile");
  EXPECT_EQ(Of("!x"), "|!x");
  EXPECT_EQ(Of(".env*"), "|.env* hidden");
}

TEST(GlobPlan, PlainDirectoriesAreEntered) {
  EXPECT_EQ(Of("src/*.c"), "src|*.c shallow");
  EXPECT_EQ(Of("/*.c"), "|*.c shallow");
  EXPECT_EQ(Of("/src/lib/**/*.c"), "src/lib|*.c");
  EXPECT_EQ(Of("src/a.c"), "src|a.c shallow");
  EXPECT_EQ(Of("src/**"), "src|*");
  EXPECT_EQ(Of(".github/**/*.yml"), ".github|*.yml");
}

TEST(GlobPlan, WhatIsNeitherHasToMatchBesides) {
  EXPECT_EQ(Of("src/*/test_*.py"), "src|test_*.py exact src/*/test_*.py");
  EXPECT_EQ(Of("**/tests/*.py"), "|*.py exact **/tests/*.py");
  EXPECT_EQ(Of("{a,b/c}/*.c"), "|* exact {a,b/c}/*.c");
  EXPECT_EQ(Of("a:b"), "|* exact a:b");
  EXPECT_EQ(Of("!a/*/b"), "|b exact \\!a/*/b");
  EXPECT_EQ(Of("../*.c"), "|*.c exact ../*.c");
  EXPECT_EQ(Of("sub/"), "sub|* exact sub/");
}

TEST(GlobPlan, EscapedNamesStandForThemselves) {
  EXPECT_EQ(EscapeGlob("a b.c"), "a b.c");
  EXPECT_EQ(EscapeGlob("[x]*!"), "\\[x\\]\\*\\!");
}

}  // namespace
}  // namespace pa
