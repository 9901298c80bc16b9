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
}

TEST_F(EnvironmentTest, ThereIsAlwaysAPath) {
  const Variables usual = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  EXPECT_EQ(CommandEnvironment(*Load(), {}), usual);
  EXPECT_EQ(CommandEnvironment(*Load(), {{"PATH", ""}}), usual);
  User("environment: {set: {PATH: /opt/bin}}");
  EXPECT_EQ(CommandEnvironment(*Load(), {}), (Variables{{"PATH", "/opt/bin"}}));
}

TEST_F(EnvironmentTest, ThePolicyPassesAndSets) {
  User("environment: {pass: [CI, NONE], set: {LANG: de_DE, DEBUG: \"\"}}");
  const Variables ambient = {{"CI", "1"}, {"LANG", "C"}, {"OTHER", "x"}, {"PATH", "/bin"}};
  EXPECT_EQ(CommandEnvironment(*Load(), ambient),
            (Variables{{"CI", "1"}, {"LANG", "de_DE"}, {"DEBUG", ""}, {"PATH", "/bin"}}));
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
  const Variables ambient = {{"CARGO_HOME", base_ / "rust"}, {"PATH", "/bin"}};
  EXPECT_EQ(CommandEnvironment(*Load(), ambient), ambient);
  User("filesystem: {toolchains: none}");
  EXPECT_EQ(CommandEnvironment(*Load(), ambient), (Variables{{"PATH", "/bin"}}));
}

}  // namespace
}  // namespace pa::policy
