#include "policy/relaxations.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "policy/decide.h"
#include "policy/keys.h"
#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

// Of every key: a policy that goes as far as the key can, and what that relaxes. A key that relaxes
// nothing says why it cannot. A new key belongs here.
struct KeyCase {
  std::string policy;
  std::vector<std::string> relaxes;
  std::string never;
};

constexpr const char* kAccessTokens =
    "http: {public_url: \"https://a.example\", issuer: \"https://i.example\", audience: b, jwks: "
    "/etc/keys.json, scopes: [s], subjects: {sub: ann}}";

const std::map<std::string, KeyCase, std::less<>>& KeyCases() {
  static const std::map<std::string, KeyCase, std::less<>> cases = {
      {"version", {"", {}, "a number"}},
      {"roots", {"roots: [\"~\"]", {"root_with_secrets"}, ""}},
      {"tools.enable", {"tools: {enable: [all]}", {"every_tool"}, ""}},
      {"pipeline.tools",
       {"pipeline: {tools: [make]}\ntools: {enable: [pipeline, make]}", {"inner_tool"}, ""}},
      {"permissions",
       {"permissions: [{tool: \"*\", decision: allow}]",
        {},
        "enabled tools may run without a rule, so a rule can only refuse"}},
      {"filesystem.read", {"filesystem: {read: [/data]}", {"readable_path"}, ""}},
      {"filesystem.write",
       {"filesystem: {write: [/data, /srv]}", {"writable_path", "writable_path"}, ""}},
      {"filesystem.protect",
       {"filesystem: {protect: []}", {}, "adds to what is protected, takes nothing away"}},
      {"filesystem.unprotect", {"filesystem: {unprotect: [.envrc]}", {"unprotected_path"}, ""}},
      {"filesystem.toolchains", {"filesystem: {toolchains: auto}", {}, "the default is weakest"}},
      {"network", {"network: full", {"full_network"}, ""}},
      {"environment.pass", {"environment: {pass: [CI]}", {"passed_variable"}, ""}},
      {"environment.set", {"environment: {set: {CI: \"1\"}}", {"set_variable"}, ""}},
      {"namespaces", {"namespaces: off", {"no_namespaces"}, ""}},
      {"limits.wall_time", {"limits: {wall_time: 168h}", {"raised_limit"}, ""}},
      {"limits.cpu_time", {"limits: {cpu_time: 168h}", {"raised_limit"}, ""}},
      {"limits.memory", {"limits: {memory: 1TiB}", {"raised_limit"}, ""}},
      {"limits.processes", {"limits: {processes: 513}", {"raised_limit"}, ""}},
      {"limits.cpus", {"limits: {cpus: 1}", {}, "the default is more than any machine has"}},
      {"limits.open_files", {"limits: {open_files: 4097}", {"raised_limit"}, ""}},
      {"limits.file_size", {"limits: {file_size: 1TiB}", {"raised_limit"}, ""}},
      {"limits.output_inline", {"limits: {output_inline: 1MiB}", {"raised_server_limit"}, ""}},
      {"limits.output_total", {"limits: {output_total: 1TiB}", {"raised_server_limit"}, ""}},
      {"limits.commit_message", {"limits: {commit_message: 1MiB}", {"raised_server_limit"}, ""}},
      {"limits.concurrent", {"limits: {concurrent: 5}", {"raised_server_limit"}, ""}},
      {"limits.queue", {"limits: {queue: 65}", {"raised_server_limit"}, ""}},
      {"limits.calls_per_minute", {"limits: {calls_per_minute: 1}", {}, "the default is no limit"}},
      {"jobs.detach_after", {"jobs: {detach_after: 1h}", {}, "what commands may do is the same"}},
      {"jobs.keep", {"jobs: {keep: server}", {"kept_jobs"}, ""}},
      {"jobs.ports", {"jobs: {ports: loopback}", {"published_ports"}, ""}},
      {"git.identity", {"git: {identity: inherit}", {}, "the default is weakest"}},
      {"git.hooks", {"git: {hooks: run}", {}, "the default is weakest"}},
      {"git.commands", {"git: {commands: write}", {"writable_repository"}, ""}},
      {"git.signing", {"git: {signing: off}", {}, "there is no other value yet"}},
      {"audit.to", {"audit: {to: none}", {"no_audit"}, ""}},
      {"audit.path", {"audit: {path: /srv/audit}", {}, "it is refused where commands can write"}},
      {"http.public_url",
       {"http: {public_url: \"https://a.example\"}", {}, "what commands may do is the same"}},
      {"http.origins",
       {"http: {origins: [\"https://a.example\"]}", {}, "what commands may do is the same"}},
      {"http.issuer", {kAccessTokens, {}, "what commands may do is the same"}},
      {"http.audience", {kAccessTokens, {}, "what commands may do is the same"}},
      {"http.jwks", {kAccessTokens, {}, "it is refused where commands can write"}},
      {"http.scopes", {kAccessTokens, {}, "what commands may do is the same"}},
      {"http.subjects", {kAccessTokens, {}, "what commands may do is the same"}},
      {"filesystem.sync", {"filesystem: {sync: false}", {}, "what commands may do is the same"}},
      {"audit.sync", {"audit: {sync: false}", {}, "the default is weakest"}},
  };
  return cases;
}

class RelaxationsTest : public PolicyTest {
 protected:
  std::vector<Relaxation> Of(const std::string& user) {
    User(user);
    const PolicyPtr policy = Load();
    return policy ? policy->relaxations : std::vector<Relaxation>();
  }
  static std::vector<std::string> Names(const std::vector<Relaxation>& relaxations) {
    std::vector<std::string> names;
    for (const Relaxation& relaxation : relaxations) names.emplace_back(relaxation.Name());
    return names;
  }
  std::vector<std::string> NamesFor(const PolicyPtr& policy, Purpose purpose) {
    return Names(RelaxationsFor(*policy, purpose, project_, true));
  }
};

using Words = std::vector<std::string>;

TEST_F(RelaxationsTest, TheDefaultPolicyHasNone) {
  EXPECT_EQ(Names(Of("")), Words());
  sources_.enable = {"make", "git_add"};
  sources_.roots = {project_};
  EXPECT_EQ(Names(Of("")), Words());
}

TEST_F(RelaxationsTest, NorHasOneThatOnlyTightens) {
  EXPECT_EQ(Names(Of("network: none\nnamespaces: require\nroots: [~/src]\n"
                     "filesystem: {protect: [ci], toolchains: none}\n"
                     "limits: {wall_time: 1s, memory: 1GiB, queue: 0}\n"
                     "git: {hooks: skip, identity: none}\n"
                     "permissions: [{tool: make, decision: deny, reason: x}]")),
            Words());
}

TEST_F(RelaxationsTest, EveryKeySaysWhatItCanRelax) {
  std::set<std::string_view> keys;
  for (const Key& key : PolicyKeys()) {
    if (key.type == Type::kNotBuilt) continue;  // refused, so that it relaxes nothing
    keys.insert(key.name);
    const auto found = KeyCases().find(key.name);
    ASSERT_NE(found, KeyCases().end())
        << key.name << ": can it relax something? Say so in KeyCases, in " << __FILE__;
    const KeyCase& how = found->second;
    EXPECT_NE(how.relaxes.empty(), how.never.empty()) << key.name;
    const std::vector<Relaxation> relaxations = Of(how.policy);
    EXPECT_EQ(Names(relaxations), how.relaxes) << key.name;
    for (const Relaxation& relaxation : relaxations) {
      EXPECT_EQ(relaxation.key, key.name);
      EXPECT_EQ(relaxation.at.source, base_ / "user.yaml") << key.name;
      EXPECT_EQ(relaxation.at.line, 2) << key.name;
      EXPECT_FALSE(relaxation.Why().empty());
    }
  }
  EXPECT_EQ(keys.size(), KeyCases().size()) << "a key that is no more";
}

// A value that stands behind the default in the table is a weaker one, whoever adds it.
TEST_F(RelaxationsTest, EveryChoiceThatIsWeakerThanTheDefaultIsARelaxation) {
  const PolicyFragment defaults = DefaultFragment();
  int weaker_ones = 0;
  for (const Key& key : PolicyKeys()) {
    if (key.type != Type::kChoice) continue;
    const auto field = std::get<std::optional<Located<std::string>> PolicyFragment::*>(key.field);
    bool weaker = false;
    for (const Choice& choice : key.choices) {
      if (!choice.not_built.empty()) continue;
      const std::string line = std::string(key.Word()) + ": " + std::string(choice.name);
      const bool top = key.Section().empty();
      const auto found = Of(top ? line : std::string(key.Section()) + ": {" + line + "}");
      EXPECT_EQ(found.size(), weaker ? 1u : 0u) << key.name << ": " << choice.name;
      if (!found.empty()) {
        EXPECT_EQ(found[0].value, choice.name);
      }
      weaker_ones += weaker ? 1 : 0;
      weaker = weaker || choice.name == (defaults.*field)->value;
    }
  }
  EXPECT_GE(weaker_ones, 3);  // network: loopback and full, namespaces: off
}

TEST_F(RelaxationsTest, EveryTypeIsAskedForByAKey) {
  std::set<std::string> asked = {"loopback_network"};  // below
  for (const auto& [key, how] : KeyCases()) asked.insert(how.relaxes.begin(), how.relaxes.end());
  EXPECT_EQ(asked.size(), std::variant_size_v<RelaxationType>);
  EXPECT_EQ(Names(Of("network: loopback")), Words{"loopback_network"});
}

TEST_F(RelaxationsTest, WhoAsksForItIsNamed) {
  Administrator("network: full");
  sources_.enable = {"all"};
  sources_.env_commit_size = "32768";
  const std::vector<Relaxation> found = Of("network: full\nlimits: {memory: 8GiB}");
  ASSERT_EQ(Names(found),
            (Words{"every_tool", "full_network", "raised_limit", "raised_server_limit"}));
  EXPECT_EQ(found[0].at.Format(), "--enable");
  EXPECT_EQ(found[1].at.Format(), (base_ / "user.yaml").string() + ":2:10");
  EXPECT_EQ(found[2].Format(), "raised_limit (limits.memory: 8GiB, " +
                                   (base_ / "user.yaml").string() +
                                   ":3:18): a command can take more of this machine; built in: "
                                   "4GiB");
  EXPECT_EQ(found[3].at.Format(), "PROJECT_ACTIONS_MAX_COMMIT_SIZE");
  User("");
  EXPECT_EQ(Load()->relaxations.at(1).at.Format(),
            (base_ / "administrator.yaml").string() + ":2:10");
}

// The host sees one call, and permits it by the name of the tool.
TEST_F(RelaxationsTest, AToolThatAPipelineCallsIsOne) {
  const auto tools = [&](const std::string& enable, const std::string& pipeline = "") {
    std::string found;
    for (const Relaxation& one : Of("tools: {enable: [" + enable + "]}\n" + pipeline)) {
      found += std::string(one.Name()) + " " + one.value + " ";
    }
    return found;
  };
  EXPECT_EQ(tools("pipeline, make, bash"), "inner_tool make inner_tool bash ");
  EXPECT_EQ(tools("batch, make", "pipeline: {tools: [make]}"), "inner_tool make ");
  EXPECT_EQ(tools("all", "pipeline: {tools: [make]}"), "every_tool all inner_tool make ");
  EXPECT_EQ(tools("make, bash"), "") << "nothing calls them";
  EXPECT_EQ(tools("make", "pipeline: {tools: [make]}"), "");
  EXPECT_EQ(tools("pipeline, make", "pipeline: {tools: []}"), "");
  EXPECT_EQ(tools("pipeline", "pipeline: {tools: [make]}"), "") << "make is off";
  EXPECT_EQ(tools("all"), "every_tool all ");
  EXPECT_EQ(tools("pipeline, batch, read"), "") << "a host loses no question by these";
}

TEST_F(RelaxationsTest, AToolOfAPipelineIsFoundWhereItIsNamed) {
  const std::string user = (base_ / "user.yaml").string();
  const std::vector<Relaxation> set =
      Of("tools: {enable: [pipeline, make]}\npipeline: {tools: [make]}");
  ASSERT_EQ(Names(set), Words{"inner_tool"});
  EXPECT_EQ(set[0].Format(), "inner_tool (pipeline.tools: make, " + user +
                                 ":3:20): a host that permits pipeline or batch permits this tool "
                                 "with it, without being asked about each call");
  const std::vector<Relaxation> by_default = Of("tools: {enable: [pipeline, make]}");
  ASSERT_EQ(Names(by_default), Words{"inner_tool"});
  EXPECT_EQ(by_default[0].key, "pipeline.tools");
  EXPECT_EQ(by_default[0].at.Format(), user + ":2:28");
}

TEST_F(RelaxationsTest, SecretsArePriced) {
  std::filesystem::create_directories(home_ / ".ssh");
  const std::vector<Relaxation> found = Of("filesystem: {read: [~/.ssh/id, /data]}");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].remark, "gives commands the secrets in " + (home_ / ".ssh").string());
  EXPECT_EQ(found[1].remark, "");
}

TEST_F(RelaxationsTest, ValuesOfVariablesAreNotShown) {
  const std::vector<Relaxation> found = Of("environment: {set: {TOKEN: hunter2}}");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].value, "TOKEN");
  EXPECT_EQ(found[0].Format().find("hunter2"), std::string::npos);
}

TEST_F(RelaxationsTest, ACallHasThoseOfItsPurpose) {
  User(
      "network: full\nnamespaces: off\nfilesystem: {write: [/srv]}\nenvironment: {pass: [CI]}\n"
      "limits: {memory: 8GiB, queue: 99}\ntools: {enable: [all]}");
  const PolicyPtr policy = Load();
  const Words git = {"writable_path", "passed_variable", "no_namespaces", "raised_limit"};
  EXPECT_EQ(
      NamesFor(policy, Purpose::kBuild),
      (Words{"writable_path", "full_network", "passed_variable", "no_namespaces", "raised_limit"}));
  EXPECT_EQ(NamesFor(policy, Purpose::kInspect), git);
  EXPECT_EQ(NamesFor(policy, Purpose::kGit), git);
  EXPECT_EQ(NamesFor(policy, Purpose::kGitIdentity),
            (Words{"passed_variable", "no_namespaces", "raised_limit"}));
  EXPECT_EQ(NamesFor(policy, Purpose::kWriteFile), (Words{"no_namespaces", "raised_limit"}));
}

TEST_F(RelaxationsTest, OfARootOnlyWhereTheCallWorks) {
  std::filesystem::create_directories(home_ / ".config/gh");
  User("roots: [\"~\"]");
  const PolicyPtr policy = Load();
  ASSERT_EQ(Names(policy->relaxations), Words{"root_with_secrets"});
  EXPECT_EQ(NamesFor(policy, Purpose::kBuild), Words());
  const auto there = RelaxationsFor(*policy, Purpose::kBuild, home_ / ".config", true);
  ASSERT_EQ(Names(there), Words{"root_with_secrets"});
  EXPECT_EQ(there[0].remark, "gives commands the secrets in " + (home_ / ".config/gh").string());
}

// What the list says and what a command gets must not come apart.
TEST_F(RelaxationsTest, TheDecisionCarriesThem) {
  const auto allowed = [&](const std::string& user) {
    User(user);
    const PolicyPtr policy = Load();
    const auto directory = ValidateWorkingDirectory(*policy, "");
    const Decision decision = Decide(*policy, {.tool = "make", .directory = &directory.value()});
    return std::get<Permission>(decision).For({.purpose = Purpose::kBuild});
  };
  const Allow full = allowed("network: full\ntools: {enable: [make]}");
  EXPECT_EQ(full.confinement().network, sandbox::Network::kFull);
  EXPECT_EQ(Names(full.relaxations()), Words{"full_network"});
  const Allow plain = allowed("tools: {enable: [make]}");
  EXPECT_EQ(plain.confinement().network, sandbox::Network::kNone);
  EXPECT_EQ(Names(plain.relaxations()), Words());
}

TEST_F(RelaxationsTest, AsJson) {
  JsonWriter writer;
  WriteRelaxations(writer, {{FullNetwork(), "network", "full", {"p.yaml", 2, 10}, "odd\n"}});
  const auto json = ParseJson(std::move(writer).Take());
  ASSERT_TRUE(json) << json.error().Message();
  const JsonValue& one = json->Items().at(0);
  EXPECT_EQ(one.Find("name")->AsString(), "full_network");
  EXPECT_EQ(one.Find("key")->AsString(), "network");
  EXPECT_EQ(one.Find("value")->AsString(), "full");
  EXPECT_EQ(one.Find("from")->AsString(), "p.yaml:2:10");
  EXPECT_EQ(one.Find("why")->AsString(), FullNetwork::kWhy);
  EXPECT_EQ(one.Find("remark")->AsString(), "odd\n");
}

}  // namespace
}  // namespace pa::policy
