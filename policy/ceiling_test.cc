// Whatever a command is given fits beneath the ceiling, and what no command is given does not.
#include "policy/ceiling.h"

#include <algorithm>

#include "policy/decide.h"
#include "policy/grants.h"
#include "policy/path.h"
#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;
using sandbox::Access;
using sandbox::PathGrant;

constexpr Purpose kPurposes[] = {Purpose::kBuild,    Purpose::kInspect,     Purpose::kSearch,
                                 Purpose::kGit,      Purpose::kGitCopy,     Purpose::kGitAlone,
                                 Purpose::kReadFile, Purpose::kGitIdentity, Purpose::kWriteFile};

class CeilingTest : public PolicyTest {
 protected:
  void SetUp() override {
    sources_.variables["PATH"] = "/usr/local/bin:/usr/bin:/bin";
    fs::create_directories(home_ / ".config/git");
    pa::testing::WriteText(home_ / ".gitconfig", "");
    pa::testing::WriteText(home_ / ".config/git/config", "");
    fs::create_directories(home_ / ".ssh");
  }
  std::string State() const { return (home_ / ".local/state/project-actions").string(); }

  void ExpectAllFits() {
    const PolicyPtr policy = Load();
    ASSERT_NE(policy, nullptr);
    Ceiling ceiling = CeilingOf(*policy, State());
    const auto own = GitConfigurationGrants(ceiling.home, ceiling.config_home);
    ceiling.commands.insert(ceiling.commands.end(), own.begin(), own.end());
    for (const Purpose purpose : kPurposes) {
      for (const PathGrant& grant : GrantsFor(*policy, purpose, project_)) {
        EXPECT_TRUE(IsWithin(grant, ceiling.commands)) << grant.path << " for " << int(purpose);
      }
    }
    const auto directory = ValidateWorkingDirectory(*policy, project_);
    ASSERT_TRUE(directory);
    for (const Purpose purpose : kPurposes) {
      const Decision decision = Decide(*policy, {.tool = "make", .directory = &*directory});
      const Allow allow = std::get<Permission>(decision).For({.purpose = purpose});
      const auto has = [](const std::vector<std::string>& programs,
                          const sandbox::SeccompProgram& one) {
        return one == nullptr || std::ranges::find(programs, *one) != programs.end();
      };
      EXPECT_TRUE(has(ceiling.programs, allow.seccomp()));
      EXPECT_TRUE(has(ceiling.view_programs, allow.view_seccomp()));
      EXPECT_LE(allow.limits().memory_bytes, ceiling.limits.memory_bytes);
      EXPECT_LE(allow.limits().wall_time_ms, ceiling.limits.wall_time_ms);
      EXPECT_LE(allow.limits().grace_ms, ceiling.limits.grace_ms);
    }
  }
};

TEST_F(CeilingTest, WhateverACommandIsGiven) {
  for (const char* text :
       {"", "network: full", "network: loopback", "namespaces: off",
        "filesystem: {toolchains: auto}", "filesystem: {read: [/data, ~/shared], write: [/cache]}",
        "limits: {memory: 1GiB, wall_time: 10s, processes: 20}"}) {
    User(std::string("tools: {enable: [make]}\n") + text);
    SCOPED_TRACE(text);
    ExpectAllFits();
  }
}

TEST_F(CeilingTest, NothingElse) {
  User("filesystem: {read: [/data], write: [/cache]}");
  const Ceiling ceiling = CeilingOf(*Load(), State());
  const auto fits = [&](const std::string& path, Access access) {
    return IsWithin({path, access, ""}, ceiling.commands);
  };
  EXPECT_TRUE(fits(project_ / "x", sandbox::kReadWriteExecute));
  EXPECT_TRUE(fits("/data/x", sandbox::kReadExecute));
  EXPECT_FALSE(fits("/data/x", Access::kWrite));
  EXPECT_FALSE(fits("/database", Access::kRead));
  EXPECT_TRUE(fits("/usr/bin/make", sandbox::kReadExecute));
  EXPECT_FALSE(fits("/usr/bin/make", Access::kWrite));
  EXPECT_FALSE(fits(home_ / ".ssh", Access::kRead));
  EXPECT_FALSE(fits(home_, Access::kRead));
  EXPECT_FALSE(fits("/", Access::kRead));
  EXPECT_FALSE(fits(State(), Access::kRead));
  EXPECT_FALSE(fits(State() + "/tokens", Access::kRead));
  EXPECT_EQ(ceiling.network, sandbox::Network::kNone);
}

TEST_F(CeilingTest, ChoresExecuteNothing) {
  User("filesystem: {read: [/data], write: [/cache]}");
  const Ceiling ceiling = CeilingOf(*Load(), State());
  const auto fits = [&](const std::string& path, Access access) {
    return IsWithin({path, access, ""}, ceiling.chores);
  };
  EXPECT_TRUE(fits(project_ / "x", sandbox::kReadWrite));
  EXPECT_TRUE(fits("/cache/x", sandbox::kReadWrite));
  EXPECT_TRUE(fits("/data/x", Access::kRead));
  EXPECT_TRUE(fits(State() + "/displaced", sandbox::kReadWrite));
  EXPECT_FALSE(fits("/data/x", Access::kWrite));
  EXPECT_FALSE(fits(project_ / "x", Access::kExecute));
  EXPECT_FALSE(fits("/usr/bin/make", Access::kRead));
  EXPECT_FALSE(fits(home_ / ".ssh", Access::kRead));
}

}  // namespace
}  // namespace pa::policy
