#include "policy/decide.h"

#include <algorithm>
#include <set>
#include <string>

#include "policy/add_line.h"
#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

using sandbox::Access;

// A call, and what its one command needs.
struct Asked : ActionRequest, Needs {};

class DecideTest : public PolicyTest {
 protected:
  void SetUp() override { sources_.enable = {"all"}; }

  // The decision about a call in the project under the policy as it is now.
  Decision About(Asked request) {
    policy_ = Load();
    auto directory = ValidateWorkingDirectory(*policy_, "");
    EXPECT_TRUE(directory.has_value());
    request.directory = &*directory;
    return Decide(*policy_, request);
  }
  Allow Allowed(const Asked& request) {
    Decision decision = About(request);
    if (auto* deny = std::get_if<Deny>(&decision)) ADD_FAILURE() << deny->message;
    return std::get<Permission>(decision).For(request);
  }
  Deny Denied(const Asked& request) {
    Decision decision = About(request);
    EXPECT_TRUE(std::holds_alternative<Deny>(decision)) << request.tool << ' ' << request.target;
    return std::holds_alternative<Deny>(decision) ? std::get<Deny>(decision) : Deny{};
  }
  // `+` or `-` for each of the calls.
  std::string Verdicts(const std::vector<Asked>& requests) {
    std::string out;
    for (const Asked& request : requests) {
      out += std::holds_alternative<Permission>(About(request)) ? '+' : '-';
    }
    return out;
  }

  PolicyPtr policy_;
};

Asked Call(const std::string& tool, const std::string& target = "") {
  Asked request;
  request.tool = tool;
  request.target = target;
  return request;
}

TEST_F(DecideTest, AToolThatIsOffSaysHowToSwitchItOn) {
  sources_.enable = {};
  const Deny deny = Denied(Call("git_add"));
  EXPECT_TRUE(deny.tool_disabled);
  for (const char* way : {"--enable git_add", "ENABLE_ADDITIONAL_TOOLS=git_add", "tools.enable"}) {
    EXPECT_NE(deny.message.find(way), std::string::npos) << deny.message;
    EXPECT_NE(deny.ai_message.find(way), std::string::npos) << deny.ai_message;
  }
  sources_.enable = {"git_add"};
  EXPECT_EQ(Allowed(Call("git_add")).rule(), "");
}

TEST_F(DecideTest, ReadOnlyToolsAreAlwaysOn) {
  sources_.enable = {};
  Asked targets = Call("make_targets");
  EXPECT_TRUE(Denied(targets).tool_disabled);
  targets.read_only = true;
  EXPECT_EQ(Allowed(targets).rule(), "");
}

// The first text between backticks.
std::string LineIn(const std::string& text) {
  const std::size_t begin = text.find('`') + 1;
  return text.substr(begin, text.find('`', begin) - begin);
}

TEST_F(DecideTest, ACallThatAPipelineMayNotMakeSaysWhichLineAllowsIt) {
  for (const char* written : {"", "tools: {enable: [make]}\n", "pipeline: {tools: []}\n",
                              "pipeline:\n  tools:\n    - git_add\n    - make\n"}) {
    User(written);
    const PolicyPtr before = Load();
    EXPECT_FALSE(before->InnerCallAllowed("bash", false)) << written;
    const Deny deny = NotFromWithin(*before, "bash");
    EXPECT_FALSE(deny.tool_disabled) << "it is on, and can be called by itself";
    const std::string line = LineIn(deny.message);
    EXPECT_EQ(LineIn(deny.ai_message), line);
    const auto added = AddLine("version: 1\n" + std::string(written), "user.yaml", line);
    ASSERT_TRUE(added.has_value()) << added.error();
    pa::testing::WriteText(base_ / "user.yaml", added->text);
    std::set<std::string> expected = before->inner_tools;
    expected.insert("bash");
    EXPECT_EQ(Load()->inner_tools, expected) << line;
  }
  EXPECT_EQ(NotFromWithin(*Load(), "delete").message,
            "the policy does not let a pipeline or batch call 'delete': write `pipeline: {tools: "
            "[bash, git_add, make, delete]}` in the policy file, or call delete by itself");
}

TEST_F(DecideTest, TheFirstRuleThatMatchesDecides) {
  User(
      "permissions:\n"
      "  - {tool: make, target: deploy-test, decision: allow}\n"
      "  - {tool: make, target: \"deploy*\", decision: deny, reason: touches production}\n"
      "  - {tool: git_commit, decision: deny, reason: by hand}\n");
  EXPECT_EQ(Verdicts({Call("make", "deploy-test"), Call("make", "deploy-all"), Call("make", "test"),
                      Call("git_commit"), Call("git_add")}),
            "+-+-+");
  const Deny deny = Denied(Call("make", "deploy-all"));
  EXPECT_FALSE(deny.tool_disabled);
  EXPECT_EQ(deny.message,
            "policy refuses 'make deploy-all': touches production - by permissions[1] (" +
                (base_ / "user.yaml").string() + ":4:5)");
  EXPECT_EQ(Allowed(Call("make", "deploy-test")).rule(),
            "permissions[0] (" + (base_ / "user.yaml").string() + ":3:5)");
}

TEST_F(DecideTest, TheAdministratorsRefusalCannotBeUndone) {
  Administrator("permissions: [{tool: make, target: deploy, decision: deny, reason: no}]");
  User("permissions: [{tool: \"*\", decision: allow}]");
  EXPECT_EQ(Verdicts({Call("make", "deploy"), Call("make", "test")}), "-+");
}

TEST_F(DecideTest, TheUserIsAskedAndHisWordIsForThatRuleOnly) {
  User(
      "permissions:\n"
      "  - {tool: make, target: \"deploy*\", decision: ask, reason: touches production}\n"
      "  - {tool: make, target: x, decision: deny, reason: no}\n");
  Asked deploy = Call("make", "deploy");
  const Decision decision = About(deploy);
  const auto* ask = std::get_if<Ask>(&decision);
  ASSERT_NE(ask, nullptr);
  EXPECT_EQ(ask->call, "make deploy");
  EXPECT_EQ(ask->reason, "touches production");
  EXPECT_EQ(ask->rule, "permissions[0] (" + (base_ / "user.yaml").string() + ":3:5)");
  deploy.approved = ask->rule;
  EXPECT_EQ(Allowed(deploy).rule(), ask->rule);
  deploy.approved = "permissions[1] (" + (base_ / "user.yaml").string() + ":4:5)";
  const Decision other = About(deploy);
  EXPECT_TRUE(std::holds_alternative<Ask>(other));
  Asked refused = Call("make", "x");
  refused.approved = deploy.approved;
  EXPECT_FALSE(Denied(refused).tool_disabled) << "no word of the user's undoes that";
}

TEST_F(DecideTest, WhoMayChangeTheRepository) {
  Asked git = Call("git_commit");
  git.purpose = Purpose::kGit;
  Asked plain = Call("bash");
  Asked writes = plain;
  writes.writes_git = true;
  EXPECT_TRUE(Allowed(git).writes_git());
  EXPECT_FALSE(Allowed(plain).writes_git());
  const Deny denied = Denied(writes);
  EXPECT_TRUE(denied.message.contains("git.commands is read")) << denied.message;
  EXPECT_TRUE(denied.ai_message.contains("`git: {commands: ask}`")) << denied.ai_message;
  User("git: {commands: write}");
  EXPECT_TRUE(Allowed(plain).writes_git());
  EXPECT_EQ(Allowed(plain).relaxations().size(), 1u);
  EXPECT_FALSE(policy_->EverAsks());
  User("git: {commands: ask}");
  EXPECT_FALSE(Allowed(plain).writes_git());
  EXPECT_TRUE(policy_->EverAsks());
  EXPECT_TRUE(Allowed(plain).relaxations().empty());
  const Decision decision = About(writes);
  const auto* ask = std::get_if<Ask>(&decision);
  ASSERT_NE(ask, nullptr);
  EXPECT_EQ(ask->rule, "git.commands");
  EXPECT_TRUE(ask->reason.contains(".git")) << ask->reason;
  writes.approved = ask->rule;
  EXPECT_TRUE(Allowed(writes).writes_git());
  EXPECT_EQ(Allowed(writes).rule(), "git.commands");
  EXPECT_EQ(Allowed(writes).relaxations().size(), 1u);
  EXPECT_TRUE(Allowed(git).relaxations().empty() && Allowed(git).writes_git());
}

// The user answers one question, and a yes to half of it is none.
TEST_F(DecideTest, ARuleAndTheRepositoryAreOneQuestion) {
  User(
      "git: {commands: ask}\n"
      "permissions: [{tool: bash, command: git push, decision: ask, reason: others see it}]");
  Asked push = Call("bash");
  push.command = "git push";
  const Decision alone = About(push);
  ASSERT_TRUE(std::holds_alternative<Ask>(alone));
  push.writes_git = true;
  push.approved = std::get<Ask>(alone).rule;
  const Decision both = About(push);
  ASSERT_TRUE(std::holds_alternative<Ask>(both));
  EXPECT_EQ(std::get<Ask>(both).rule, push.approved + " and git.commands");
  EXPECT_TRUE(std::get<Ask>(both).reason.starts_with("others see it; "))
      << std::get<Ask>(both).reason;
  push.approved = "git.commands";
  EXPECT_TRUE(std::holds_alternative<Ask>(About(push)));
  push.approved = std::get<Ask>(both).rule;
  EXPECT_TRUE(Allowed(push).writes_git());
}

TEST_F(DecideTest, TheAdministratorsQuestionCannotBeUndone) {
  Administrator("permissions: [{tool: make, target: deploy, decision: ask}]");
  User("permissions: [{tool: \"*\", decision: allow}]");
  const Decision decision = About(Call("make", "deploy"));
  EXPECT_TRUE(std::holds_alternative<Ask>(decision));
  EXPECT_EQ(Verdicts({Call("make", "test")}), "+");
}

TEST_F(DecideTest, TheAdministratorsLeaveCanBeNarrowed) {
  Administrator("permissions: [{tool: \"*\", decision: allow}]");
  User("permissions: [{tool: make, target: deploy, decision: deny, reason: not here}]");
  EXPECT_EQ(Verdicts({Call("make", "deploy"), Call("make", "test")}), "-+");
}

TEST_F(DecideTest, RulesAboutAToolHoldForProjectActionsToo) {
  User(
      "permissions:\n"
      "  - {tool: make, target: \"deploy*\", decision: deny, reason: no}\n"
      "  - {tool: git_commit, decision: deny, reason: no}\n");
  EXPECT_EQ(Verdicts({Call("project_actions", "deploy"), Call("project_actions", "test"),
                      Call("project_actions", "commit"), Call("project_actions", "add"),
                      Call("project_actions", "generate")}),
            "-+-++");
  User("permissions: [{tool: project_actions, target: test, decision: deny, reason: no}]");
  EXPECT_EQ(Verdicts({Call("project_actions", "test"), Call("make", "test")}), "-+");
}

TEST_F(DecideTest, ATimeoutShortensTheWallTimeOnly) {
  User(
      "limits: {wall_time: 10s, cpu_time: 1500ms, memory: 1GiB, processes: 7, cpus: 2, open_files: "
      "99, file_size: 5MiB}");
  Asked request = Call("make", "test");
  EXPECT_EQ(Allowed(request).limits().wall_time_ms, 10'000u);
  request.timeout = std::chrono::seconds(3);
  EXPECT_EQ(Allowed(request).limits().wall_time_ms, 3'000u);
  request.timeout = std::chrono::hours(3);
  EXPECT_EQ(Allowed(request).limits().wall_time_ms, 10'000u);
  request.timeout = std::chrono::milliseconds(0);  // 0 would mean "no limit"
  EXPECT_EQ(Allowed(request).limits().wall_time_ms, 1u);
  const sandbox::ResourceLimits limits = Allowed(request).limits();
  EXPECT_EQ(limits.cpu_seconds, 2u);  // whole seconds, rounded up
  EXPECT_EQ(limits.memory_bytes, 1u << 30);
  EXPECT_EQ(limits.processes, 7u);
  EXPECT_EQ(limits.cpus, 2u);
  EXPECT_EQ(limits.open_files, 99u);
  EXPECT_EQ(limits.file_bytes, 5u << 20);
}

TEST_F(DecideTest, OnlyBuildsHaveTheNetwork) {
  User("network: full");
  Asked request = Call("make", "test");
  Allow allow = Allowed(request);
  EXPECT_EQ(allow.confinement().network, sandbox::Network::kFull);
  EXPECT_EQ(allow.seccomp(), policy_->programs.build);
  for (const Purpose purpose :
       {Purpose::kInspect, Purpose::kGit, Purpose::kGitIdentity, Purpose::kWriteFile}) {
    request.purpose = purpose;
    allow = Allowed(request);
    EXPECT_EQ(allow.confinement().network, sandbox::Network::kNone);
    EXPECT_EQ(allow.seccomp(), purpose == Purpose::kInspect     ? policy_->programs.inspect
                               : purpose == Purpose::kWriteFile ? policy_->programs.changes
                                                                : policy_->programs.no_network);
  }
}

TEST_F(DecideTest, RulesByPathAndByCommand) {
  User(
      "permissions:\n"
      "  - {tool: \"*\", path: secrets, decision: deny, reason: they are}\n"
      "  - {tool: bash, command: npm test, decision: allow}\n"
      "  - {tool: bash, decision: deny, reason: tests only}\n"
      "tools: {enable: [make]}\n");
  Asked read = Call("read");
  read.read_only = true;
  read.purpose = Purpose::kReadFile;
  read.path = (project_ / "src/a").string();
  EXPECT_EQ(Allowed(read).rule(), "");
  read.path = (project_ / "secrets/a").string();
  EXPECT_NE(Denied(read).message.find("policy refuses 'read " + read.path + "': they are - by "),
            std::string::npos)
      << Denied(read).message;
  EXPECT_EQ(Allowed(Call("make", "secrets")).rule(), "") << "it has no path";
}

// There the worker itself is all that runs.
TEST_F(DecideTest, WhoReadsAFileMayDoNothingElse) {
  User("namespaces: require\nlimits: {processes: 7}");
  Asked request = Call("make", "test");
  EXPECT_EQ(Allowed(request).limits().processes, 7u);
  EXPECT_EQ(Allowed(request).confinement().namespaces, sandbox::Namespaces::kRequire);
  request.purpose = Purpose::kReadFile;
  const Allow allow = Allowed(request);
  EXPECT_EQ(allow.seccomp(), policy_->programs.files);
  EXPECT_NE(*policy_->programs.files, *policy_->programs.inspect);
  EXPECT_EQ(allow.confinement().network, sandbox::Network::kNone);
  EXPECT_EQ(allow.confinement().namespaces, sandbox::Namespaces::kOff);
  EXPECT_EQ(allow.limits().processes, 0u) << "nobody is started who could be counted";
}

// The right to truncate without that to write is good for nothing, as long as seccomp keeps to
// that.
TEST_F(DecideTest, TheRightToTruncateComesWithARefusalToDoIt) {
  User("namespaces: require\ntools: {enable: [all]}\nfilesystem: {read: [/data], write: [/cache]}");
  for (const Purpose purpose : {Purpose::kInspect, Purpose::kSearch, Purpose::kBuild, Purpose::kGit,
                                Purpose::kGitIdentity, Purpose::kReadFile, Purpose::kWriteFile}) {
    Asked request = Call("make", "test");
    request.purpose = purpose;
    const Allow allow = Allowed(request);
    const bool granted =
        std::ranges::any_of(allow.confinement().paths, [](const sandbox::PathGrant& grant) {
          return sandbox::Has(grant.access, sandbox::Access::kTruncate);
        });
    EXPECT_EQ(granted, purpose == Purpose::kSearch) << static_cast<int>(purpose);
    EXPECT_EQ(allow.seccomp() == policy_->programs.search, granted);
    EXPECT_EQ(allow.view_seccomp() == policy_->view_programs.search, granted);
    EXPECT_EQ(allow.confinement().seccomp == sandbox::SeccompProfile::kSearch, granted);
  }
}

TEST_F(DecideTest, WhoWritesAFileMayDoLittleMore) {
  User("namespaces: require\ntools: {enable: [write]}");
  Asked request = Call("write");
  request.purpose = Purpose::kWriteFile;
  const Allow allow = Allowed(request);
  EXPECT_EQ(allow.seccomp(), policy_->programs.changes);
  EXPECT_NE(*policy_->programs.changes, *policy_->programs.files);
  EXPECT_EQ(allow.confinement().namespaces, sandbox::Namespaces::kOff);
  EXPECT_EQ(allow.limits().processes, 0u);
}

TEST_F(DecideTest, WhatTheCallAddsIsGranted) {
  Asked request = Call("git_add");
  request.purpose = Purpose::kGit;
  request.extra = {{"/elsewhere/.git", sandbox::kReadWrite, "repository"}};
  const std::vector<sandbox::PathGrant> paths = Allowed(request).confinement().paths;
  EXPECT_NE(std::ranges::find(paths, request.extra[0]), paths.end());
}

TEST_F(DecideTest, WhereGitRunsAloneWhatTheCallAddsIsNotExecuted) {
  Asked request = Call("git_add");
  request.purpose = Purpose::kGit;
  request.extra = {{"/elsewhere/.git/hooks", sandbox::kReadWriteExecute, "repository"}};
  EXPECT_EQ(Allowed(request).confinement().paths.back().access, sandbox::kReadWriteExecute);
  request.purpose = Purpose::kGitCopy;
  EXPECT_EQ(Allowed(request).confinement().paths.back().access, sandbox::kReadWriteExecute);
  request.purpose = Purpose::kGitAlone;
  EXPECT_EQ(Allowed(request).confinement().paths.back().access, sandbox::kReadWrite);
}

// A command with a copy of the repository has the repository itself read-only.
TEST_F(DecideTest, WhoMayWriteTheRepository) {
  const auto writes = [&](Purpose purpose) {
    Asked request = Call(purpose == Purpose::kBuild ? "make" : "git_commit");
    request.purpose = purpose;
    return Allowed(request).writes_git();
  };
  EXPECT_TRUE(writes(Purpose::kGit));
  EXPECT_TRUE(writes(Purpose::kGitAlone));
  EXPECT_FALSE(writes(Purpose::kGitCopy));
  EXPECT_FALSE(writes(Purpose::kBuild));
  User("git: {commands: write}");
  EXPECT_FALSE(writes(Purpose::kGitCopy));
  EXPECT_TRUE(writes(Purpose::kBuild));
}

}  // namespace
}  // namespace pa::policy
