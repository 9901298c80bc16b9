#include "policy/profile.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pa::policy {
namespace {

std::string Fault(const char* yaml) {
  const auto profile = ParseProfile({"x", yaml});
  return profile ? "" : profile.error().Format();
}

TEST(Profile, HoldsWhatItsFileSays) {
  const auto profile = ParseProfile({"x", R"(
environment:
  set:
    A: ${PROJECT_CACHE}/a
    B: ${HOME}/b  # why
unless_granted:
  A: ${HOME}/.a
unless_writable:
  B: ${HOME}/.b
filesystem:
  write:
    - ${PROJECT_CACHE}
)"});
  ASSERT_TRUE(profile) << profile.error().Format();
  EXPECT_EQ(profile->name, "x");
  EXPECT_EQ(profile->set, (Variables{{"A", "${PROJECT_CACHE}/a"}, {"B", "${HOME}/b"}}));
  EXPECT_EQ(profile->unless_granted, (Variables{{"A", "${HOME}/.a"}}));
  EXPECT_EQ(profile->unless_writable, (Variables{{"B", "${HOME}/.b"}}));
  EXPECT_EQ(profile->write, std::vector<std::string>{"${PROJECT_CACHE}"});
}

TEST(Profile, WhatIsNotUnderstoodIsNamedWithItsPlace) {
  EXPECT_EQ(Fault("environment: {set: {A: a}}\n"), "");
  EXPECT_EQ(Fault("envirnment: {}\n"), "x.yaml:1:1: unknown key 'envirnment'");
  EXPECT_EQ(Fault("environment: {pass: [A]}\n"), "x.yaml:1:14: expected set and nothing else");
  EXPECT_EQ(Fault("environment: {set: [A]}\n"), "x.yaml:1:20: expected a mapping");
  EXPECT_EQ(Fault("filesystem: {write: x}\n"), "x.yaml:1:21: expected a list");
  EXPECT_EQ(Fault("unless_granted: {A: /a}\n"), "x.yaml:1:1: A is not set here");
  EXPECT_NE(Fault("a: ["), "");
}

TEST(Profile, TheShippedOnesAreUnderstood) {
  std::vector<std::string> names;
  for (const ProfileText& text : ShippedProfiles()) {
    const auto profile = ParseProfile(text);
    ASSERT_TRUE(profile) << profile.error().Format();
    EXPECT_FALSE(profile->set.empty()) << text.name;
    EXPECT_EQ(profile->write, std::vector<std::string>{"${PROJECT_CACHE}"}) << text.name;
    names.push_back(profile->name);
  }
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_TRUE(std::ranges::find(names, "go") != names.end());
}

TEST(Profile, VariablesAreReplacedOnce) {
  const Variables values = {{"A", "${B}"}, {"B", "b"}};
  EXPECT_EQ(ReplaceVariables("${A}-${B}-${C}-$B-${", values), "${B}-b-${C}-$B-${");
}

}  // namespace
}  // namespace pa::policy
