#include "supervisor/spawner/server_policy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/support/policy_fixture.h"

namespace pa {
namespace {

using policy::Policy;

// One that says something of everything.
constexpr char kText[] =
    "tools: {enable: [make, git_add]}\n"
    "pipeline: {tools: [make]}\n"
    "permissions:\n"
    "  - {tool: make, target: 'deploy*', decision: ask, reason: it publishes}\n"
    "  - {tool: bash, command: rm, decision: deny, reason: no}\n"
    "  - {tool: write, path: '/etc/**', decision: deny, reason: the system}\n"
    "filesystem: {read: [/opt], write: [/srv], protect: [deploy], sync: false,\n"
    "             unprotect: [.vscode/tasks.json]}\n"
    "network: loopback\n"
    "namespaces: auto\n"
    "environment: {pass: [EDITOR], set: {A: b}}\n"
    "limits: {memory: 1GiB, wall_time: 5m, concurrent: 2}\n"
    "jobs: {keep: server, ports: loopback}\n"
    "git: {identity: none, hooks: skip, commands: ask}\n"
    "audit: {to: journal}\n"
    "http: {public_url: 'https://a.example.org', origins: ['https://b.example.org']}\n";

class ServerPolicyTest : public policy::PolicyTest {
 protected:
  static ServerPolicy Again(const ServerPolicy& server) {
    ServerPolicy again;
    const std::string bytes = Pack(server);
    Unpacker unpacker(bytes);
    EXPECT_TRUE(unpacker(again) && unpacker.AtEnd());
    return again;
  }
};

TEST_F(ServerPolicyTest, IsWhatWasLoaded) {
  User(kText);
  const policy::PolicyPtr loaded = Load();
  ASSERT_NE(loaded, nullptr);
  Policy whole = *loaded;
  whole.aliases = {{"a", "/b"}};
  whole.caches = {"/caches", "why", {{"A", "b"}}, {"cargo"}};
  whole.covered = {{"/socket", "a socket", true, true}};
  whole.http.oauth = {"issuer", "audience", "resource", "/jwks", {"scope"}, {{"sub", "ann"}}};
  whole.anchors = {{"/anchor", "it is one"}};
  const ServerPolicy server{whole, "/worker", "/tmp"};
  const ServerPolicy again = Again(server);
  EXPECT_EQ(Pack(again), Pack(server));
  EXPECT_EQ(again.worker, "/worker");
  EXPECT_EQ(again.tmp_base, "/tmp");
  const Policy& policy = again.policy;
  EXPECT_EQ(policy.effective, nullptr);
  EXPECT_EQ(policy.roots, whole.roots);
  EXPECT_EQ(policy.enabled_tools, whole.enabled_tools);
  EXPECT_EQ(policy.inner_tools, whole.inner_tools);
  EXPECT_EQ(policy.filesystem, whole.filesystem);
  EXPECT_EQ(policy.system, whole.system);
  EXPECT_EQ(policy.git_programs, whole.git_programs);
  EXPECT_EQ(policy.names, whole.names);
  EXPECT_EQ(policy.covered, whole.covered);
  EXPECT_EQ(policy.limits, whole.limits);
  EXPECT_EQ(policy.network, sandbox::Network::kLoopback);
  EXPECT_EQ(policy.environment_set, whole.environment_set);
  EXPECT_EQ(policy.git.commands, policy::GitCommands::kAsk);
  EXPECT_EQ(policy.git.hooks, policy::Hooks::kSkip);
  EXPECT_EQ(policy.audit.daemon, policy::AuditPolicy::Daemon::kJournal);
  EXPECT_EQ(policy.http.origins, whole.http.origins);
  EXPECT_EQ(policy.http.oauth.subjects, whole.http.oauth.subjects);
  EXPECT_FALSE(policy.filesystem_sync);
  EXPECT_TRUE(policy.keep_jobs && policy.job_ports);
  ASSERT_EQ(policy.permissions.size(), 3U);
  EXPECT_EQ(policy.permissions[0].verdict, policy::Verdict::kAsk);
  EXPECT_EQ(policy.permissions[2].whole_path, whole.permissions[2].whole_path);
  EXPECT_EQ(*policy.programs.build, *whole.programs.build);
  EXPECT_EQ(*policy.view_programs.search, *whole.view_programs.search);
  ASSERT_EQ(policy.relaxations.size(), whole.relaxations.size());
  ASSERT_FALSE(whole.relaxations.empty());
  for (std::size_t i = 0; i < whole.relaxations.size(); ++i) {
    EXPECT_EQ(policy.relaxations[i].Format(), whole.relaxations[i].Format());
  }
}

TEST_F(ServerPolicyTest, AnUnknownRelaxationIsNone) {
  policy::RelaxationType type;
  const auto unpacks = [&](std::uint8_t number) { return Unpacker(Pack(number))(type); };
  constexpr std::uint8_t kCount = std::variant_size_v<policy::RelaxationType>;
  EXPECT_TRUE(unpacks(kCount - 1));
  EXPECT_EQ(type.index(), kCount - 1);
  EXPECT_FALSE(unpacks(kCount));
}

}  // namespace
}  // namespace pa
