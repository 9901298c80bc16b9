#include "policy/decide.h"
#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

using Variables = std::map<std::string, std::string>;

class EnvironmentTest : public PolicyTest {};

TEST_F(EnvironmentTest, NothingButTheUsualPasses) {
  const Variables usual = {{"PATH", "/bin"},      {"HOME", "/h"},  {"USER", "u"},
                           {"LOGNAME", "u"},      {"SHELL", "/s"}, {"LANG", "C"},
                           {"LC_ALL", "C.UTF-8"}, {"TZ", "UTC"},   {"TERM", "dumb"}};
  Variables ambient = usual;
  for (const char* name : {"LD_PRELOAD", "AWS_SECRET_ACCESS_KEY", "GIT_DIR", "MAKEFLAGS", "TMPDIR",
                           "SSH_AUTH_SOCK", "CI", "LC", "PATHX", "CARGO_HOME"}) {
    ambient[name] = "x";
  }
  EXPECT_EQ(CommandEnvironment(*Load(), ambient), usual);
  EXPECT_EQ(CommandEnvironment(*Load(), {}), Variables{});
}

TEST_F(EnvironmentTest, ThePolicyPassesAndSets) {
  User("environment: {pass: [CI, NONE], set: {LANG: de_DE, DEBUG: \"\"}}");
  EXPECT_EQ(CommandEnvironment(*Load(), {{"CI", "1"}, {"LANG", "C"}, {"OTHER", "x"}}),
            (Variables{{"CI", "1"}, {"LANG", "de_DE"}, {"DEBUG", ""}}));
}

TEST_F(EnvironmentTest, WithoutANetworkThereAreFewRetries) {
  Variables environment = {{"PIP_RETRIES", "7"}};
  LimitRetries(*Load(), environment);
  EXPECT_EQ(environment, (Variables{{"CARGO_NET_RETRY", "0"},
                                    {"PIP_RETRIES", "7"},
                                    {"npm_config_fetch_retries", "0"}}));
  User("network: full");
  environment.clear();
  LimitRetries(*Load(), environment);
  EXPECT_EQ(environment, Variables{});
}

TEST_F(EnvironmentTest, WhatMovesAToolchainIsPassedWithIt) {
  std::filesystem::create_directories(base_ / "rust/bin");
  sources_.variables["CARGO_HOME"] = base_ / "rust";
  const Variables ambient = {{"CARGO_HOME", base_ / "rust"}};
  EXPECT_EQ(CommandEnvironment(*Load(), ambient), ambient);
  User("filesystem: {toolchains: none}");
  EXPECT_EQ(CommandEnvironment(*Load(), ambient), Variables{});
}

}  // namespace
}  // namespace pa::policy
