#include "policy/load.h"

#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

class LoadTest : public PolicyTest {};

TEST_F(LoadTest, WithoutAnyFileTheDefaultsHold) {
  const PolicyPtr policy = Load();
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->roots, std::vector<std::string>{project_});
  EXPECT_EQ(policy->limits, Limits{});
  EXPECT_EQ(policy->network, sandbox::Network::kNone);
  EXPECT_EQ(policy->git.hooks, Hooks::kRun);
  EXPECT_TRUE(policy->git.inherit_identity);
  EXPECT_TRUE(policy->enabled_tools.empty());
  EXPECT_FALSE(policy->enable_all);
  EXPECT_TRUE(policy->sources.empty());
  EXPECT_EQ(policy->config_home, home_ / ".config");
  ASSERT_NE(policy->programs.build, nullptr);
  EXPECT_EQ(policy->programs.build, policy->programs.no_network);
  EXPECT_NE(*policy->programs.inspect, *policy->programs.no_network);
  EXPECT_FALSE(policy->system.empty());
}

TEST_F(LoadTest, TheUsersFileIsRead) {
  User(
      "limits: {memory: 1GiB, wall_time: 5s}\nnetwork: full\ngit: {hooks: skip, identity: none}\n"
      "environment: {pass: [CI], set: {A: b}}\ntools: {enable: [make]}");
  const PolicyPtr policy = Load();
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->limits.memory, 1u << 30);
  EXPECT_EQ(policy->limits.wall_time, std::chrono::seconds(5));
  EXPECT_EQ(policy->network, sandbox::Network::kFull);
  EXPECT_NE(*policy->programs.build, *policy->programs.no_network);
  EXPECT_EQ(policy->git.hooks, Hooks::kSkip);
  EXPECT_FALSE(policy->git.inherit_identity);
  EXPECT_EQ(policy->environment_pass, std::vector<std::string>{"CI"});
  EXPECT_EQ(policy->environment_set.at("A"), "b");
  EXPECT_TRUE(policy->ToolEnabled("make", false));
  EXPECT_FALSE(policy->ToolEnabled("git_add", false));
  EXPECT_TRUE(policy->ToolEnabled("make_targets", true));
  EXPECT_EQ(policy->sources, std::vector<std::string>{sources_.default_user_file});
}

TEST_F(LoadTest, ExamplesOfRulesAreTried) {
  const std::string rules =
      "permissions:\n"
      "  - {tool: make, target: \"test*\", decision: allow, examples: [test, test-all, "
      "\"!deploy\"]}\n"
      "  - {tool: make, decision: deny, target: \"*\", reason: r, examples: [deploy, \"!test\"]}\n"
      "  - {tool: read, path: \"*.pem\", decision: deny, reason: r, examples: [a/b.pem, "
      "\"!a.txt\"]}\n"
      "  - {tool: bash, command: git push, decision: deny, reason: r, examples: [\"x; git push "
      "-f\"]}\n";
  User(rules);
  EXPECT_EQ(Load()->permissions.size(), 4u);
  User(
      "permissions:\n"
      "  - {tool: make, target: \"test*\", decision: allow}\n"
      "  - {tool: make, target: testing, decision: deny, reason: r, examples: [testing]}\n"
      "  - {tool: read, path: /keys, decision: deny, reason: r, examples: [src/keys, "
      "\"!keys/a\"]}\n");
  EXPECT_EQ(
      Faults(),
      "user.yaml:4:73: the example 'testing' is decided by permissions[0] (user.yaml:3:5), not "
      "by permissions[1] (user.yaml:4:5)\n"
      "user.yaml:5:69: the example 'src/keys' is decided by no rule, not by permissions[2] "
      "(user.yaml:5:5)\n"
      "user.yaml:5:79: the example '!keys/a' is decided by permissions[2] (user.yaml:5:5)\n");
}

TEST_F(LoadTest, OnlyWhatIsProtectedByDefaultIsGivenUp) {
  User("filesystem: {unprotect: [.vscode/tasks.json]}\n");
  EXPECT_EQ(Load()->unprotect, std::vector<std::string>{".vscode/tasks.json"});
  User("filesystem: {unprotect: [.vscode/task.json, .mcp.json]}\n");
  EXPECT_EQ(
      Faults(),
      "user.yaml:2:26: '.vscode/task.json' is not protected by default - did you mean "
      "'.vscode/tasks.json'?\n"
      "user.yaml:2:45: '.mcp.json' cannot be unprotected: it configures how this server starts\n");
}

// /home is a symlink on many a system.
TEST_F(LoadTest, WholePathsOfRulesAreResolved) {
  std::filesystem::create_directory_symlink(home_, base_ / "link");
  sources_.home = base_ / "link";
  User(
      "permissions:\n"
      "  - {tool: read, path: ~/src/project/keys, decision: deny, reason: r, examples: [keys/a, "
      "\"!a\"]}\n"
      "  - {tool: read, path: " +
      (base_ / "link/src/project/x").string() +
      ", decision: deny, reason: r, examples: [x/a]}\n"
      "  - {tool: read, path: /top, decision: deny, reason: r, examples: [top/a, \"!b/top\"]}\n");
  const PolicyPtr policy = Load();
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->permissions.at(0).path, "~/src/project/keys");
  EXPECT_EQ(policy->permissions.at(0).whole_path, project_ / "keys");
}

TEST_F(LoadTest, TheAuditLogHasItsPlace) {
  EXPECT_EQ(Load()->audit.path, home_ / ".local/state/project-actions/audit/audit.jsonl");
  EXPECT_FALSE(Load()->audit.sync);
  User("audit: {path: ~/log/audit.jsonl, sync: true}");
  EXPECT_EQ(Load()->audit.path, home_ / "log/audit.jsonl");
  EXPECT_TRUE(Load()->audit.sync);
  User("audit: {to: none, path: /var/log/x}");
  EXPECT_EQ(Load()->audit.path, "");
  EXPECT_FALSE(Load()->audit.IsKept());
  for (const auto& [to, socket] :
       {std::pair<const char*, const char*>{"journal", "/run/systemd/journal/socket"},
        {"syslog", "/dev/log"}}) {
    User(std::string("audit: {to: ") + to + "}");
    EXPECT_TRUE(Load()->audit.IsKept());
    EXPECT_EQ(Load()->audit.socket, socket);
    EXPECT_EQ(Load()->audit.path, "");
    User(std::string("audit: {to: ") + to + ", path: /var/log/x}");
    EXPECT_NE(Faults().find("'audit.path' is for audit: {to: file}"), std::string::npos)
        << Faults();
    User(std::string("audit: {to: ") + to + ", sync: true}");
    EXPECT_NE(Faults().find("'audit.sync' is for audit: {to: file}"), std::string::npos)
        << Faults();
  }
  User("audit: {to: none}");
  sources_.variables["XDG_STATE_HOME"] = home_ / "state";
  User("");
  EXPECT_EQ(Load()->audit.path, home_ / "state/project-actions/audit/audit.jsonl");
}

TEST_F(LoadTest, AndNoneWhereCommandsCanWriteIt) {
  User("filesystem: {write: [~/log]}\naudit: {path: ~/log/audit.jsonl}");
  EXPECT_EQ(Faults(),
            "user.yaml:2:22: commands could write the audit log home/log/audit.jsonl: choose "
            "another audit.path\n");
  User("filesystem: {read: [~/log]}\naudit: {path: ~/log/audit.jsonl}");
  EXPECT_EQ(Faults(), "");
}

TEST_F(LoadTest, WithoutAHomeTheAuditLogNeedsAPlace) {
  sources_.home = "/nonexistent";
  EXPECT_NE(Faults().find("write audit: {to: none}"), std::string::npos) << Faults();
  User("audit: {to: none}");
  EXPECT_EQ(Faults(), "");
  User("audit: {path: /var/log/x}");
  EXPECT_EQ(Faults(), "");
}

TEST_F(LoadTest, TheCurrentDirectoryIsTheRootUnlessItIsTheWholeSystem) {
  sources_.current_directory = "/";
  EXPECT_EQ(Faults(),
            "current directory: / is no place to work in; name a directory with --root\n");
}

TEST_F(LoadTest, WithinARootOfTheFileTheCurrentDirectoryComesFirst) {
  User("roots: [\"${SRC}\"]");
  const PolicyPtr policy = Load();
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->roots, (std::vector<std::string>{project_, home_ / "src"}));
  sources_.current_directory = "/usr";
  EXPECT_EQ(Load()->roots, std::vector<std::string>{home_ / "src"});
}

TEST_F(LoadTest, PathsOfTheFileSystemExpand) {
  User("filesystem: {read: [~/data, \"${SRC}\"], write: [/srv/cache]}");
  const PolicyPtr policy = Load();
  ASSERT_NE(policy, nullptr);
  const std::string where = " (" + (base_ / "user.yaml").string();
  const std::vector<sandbox::PathGrant> expected = {
      {home_ / "data", sandbox::kReadExecute, "policy filesystem.read[0]" + where + ":2:21)"},
      {home_ / "src", sandbox::kReadExecute, "policy filesystem.read[1]" + where + ":2:29)"},
      {"/srv/cache", sandbox::kReadWriteExecute, "policy filesystem.write[0]" + where + ":2:48)"}};
  ASSERT_EQ(policy->filesystem.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(policy->filesystem[i].path, expected[i].path);
    EXPECT_EQ(policy->filesystem[i].access, expected[i].access);
    EXPECT_EQ(policy->filesystem[i].reason, expected[i].reason);
  }
  User("filesystem: {read: [\"${NONE}\"]}");
  EXPECT_EQ(Faults(), "user.yaml:2:21: '${NONE}': the variable ${NONE} is not set\n");
}

TEST_F(LoadTest, ToolsOfAllLayersAreEnabled) {
  User("tools: {enable: [make]}");
  sources_.env_enable = "git_add, git_commit,";
  sources_.enable = {"makefile_generate,make", "project_actions"};
  const PolicyPtr policy = Load();
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->enabled_tools, (std::set<std::string>{"make", "git_add", "git_commit",
                                                          "makefile_generate", "project_actions"}));
  sources_.env_enable = "all";
  EXPECT_TRUE(Load()->enable_all);
}

TEST_F(LoadTest, APipelineCallsReadOnlyToolsAndThoseThatAreNamed) {
  // Of read, make and bash: `+` for those that may be called from within a call.
  const auto verdicts = [&](const std::string& user) {
    User(user);
    const PolicyPtr policy = Load();
    std::string out;
    for (const char* tool : {"read", "make", "bash"}) {
      out += policy->InnerCallAllowed(tool, std::string_view(tool) == "read") ? '+' : '-';
    }
    return out;
  };
  EXPECT_EQ(verdicts(""), "+--");
  EXPECT_EQ(verdicts("tools: {enable: [pipeline, make]}"), "++-");
  EXPECT_EQ(verdicts("tools: {enable: [all]}"), "+--") << "`all` names none";
  EXPECT_EQ(verdicts("tools: {enable: [all, bash]}"), "+-+");
  EXPECT_EQ(verdicts("tools: {enable: [make, bash]}\npipeline: {tools: [bash]}"), "+-+");
  EXPECT_EQ(verdicts("tools: {enable: [make, bash]}\npipeline: {tools: []}"), "+--");
  EXPECT_EQ(verdicts("pipeline: {tools: [make]}"), "++-");
  EXPECT_FALSE(Load()->ToolEnabled("make", false)) << "a tool that is off stays off";
  EXPECT_TRUE(Load()->InnerCallAllowed("batch", false)) << "what it calls is asked about";
  sources_.enable = {"bash"};
  EXPECT_EQ(verdicts("tools: {enable: [make]}"), "+++");
  EXPECT_EQ(verdicts("tools: {enable: [make]}\npipeline: {tools: [make]}"), "++-");
}

TEST_F(LoadTest, ToolsOfAPipelineAreNamedOneByOne) {
  User("pipeline: {tools: [make, read, pipeline]}");
  EXPECT_EQ(Faults(), "");
  User("pipeline: {tools: [mak, all]}");
  EXPECT_EQ(Faults(),
            "user.yaml:2:20: unknown tool 'mak' - did you mean 'make'?\n"
            "user.yaml:2:25: 'all' stands for no tool here: name each one\n");
  User("pipeline: {tools: make}");
  EXPECT_EQ(Faults(), "user.yaml:2:19: 'tools' must be a list, found 'make'\n");
  User("pipeline: [make]");
  EXPECT_EQ(Faults(), "user.yaml:2:11: 'pipeline' must be a mapping, found a list\n");
}

TEST_F(LoadTest, TheConfigurationHomeIsTheOneOfTheEnvironmentIfAbsolute) {
  sources_.variables["XDG_CONFIG_HOME"] = "/x/config";
  EXPECT_EQ(Load()->config_home, "/x/config");
  sources_.variables["XDG_CONFIG_HOME"] = "config";
  EXPECT_EQ(Load()->config_home, home_ / ".config");
}

TEST_F(LoadTest, RulesKnowTheirPlace) {
  Administrator("permissions: [{tool: make, decision: allow}]");
  User(
      "permissions:\n  - {tool: git_add, decision: allow}\n"
      "  - {tool: make, target: x, decision: deny, reason: no}");
  const PolicyPtr policy = Load();
  ASSERT_NE(policy, nullptr);
  ASSERT_EQ(policy->permissions.size(), 3u);
  EXPECT_TRUE(policy->permissions[0].administrator);
  EXPECT_EQ(policy->permissions[2].where,
            "permissions[1] (" + (base_ / "user.yaml").string() + ":4:5)");
}

TEST_F(LoadTest, EnvironmentSetOfTheFile) {
  User("environment: {set: {GIT_DIR: x}}");
  EXPECT_EQ(Faults(),
            "user.yaml:2:21: 'GIT_DIR' may not reach commands: it changes what git does and to "
            "which repository\n");
}

// A client with one entry for several projects starts the server in the one it works in.
TEST_F(LoadTest, OfSeveralRootsOptionsThatWhereWeAreStartedIsFirst) {
  const std::string other = home_ / "other";
  const std::string inner = project_ / "inner";
  for (const std::string& directory : {other, inner + "/sub"}) {
    std::filesystem::create_directories(directory);
  }
  using Roots = std::vector<std::string>;
  sources_.roots = {other, project_, inner};
  sources_.current_directory = project_ / "inner/sub";
  EXPECT_EQ(Load()->roots, (Roots{inner, other, project_}));
  sources_.current_directory = project_;
  EXPECT_EQ(Load()->roots, (Roots{project_, other, inner}));
  sources_.current_directory = other;
  EXPECT_EQ(Load()->roots, (Roots{other, project_, inner}));
  sources_.current_directory = home_;
  EXPECT_EQ(Load()->roots, (Roots{other, project_, inner})) << "in none of them";
  sources_.roots = {project_};
  sources_.current_directory = inner;
  EXPECT_EQ(Load()->roots, Roots{project_}) << "one root is the directory of all calls";
}

constexpr std::string_view kOAuth =
    "http:\n"
    "  public_url: https://agents.example.org/mcp\n"
    "  issuer: https://issuer.example\n"
    "  jwks: /etc/keys.json\n"
    "  subjects: {\"7c9e\": ann, 12: bob}\n";

TEST_F(LoadTest, AccessTokensOfAnIssuer) {
  User("network: none");
  EXPECT_FALSE(Load()->http.oauth.IsOn());
  User(std::string(kOAuth));
  const PolicyPtr policy = Load();
  const OAuthPolicy& oauth = policy->http.oauth;
  EXPECT_TRUE(oauth.IsOn());
  EXPECT_EQ(oauth.issuer, "https://issuer.example");
  EXPECT_EQ(oauth.resource, "https://agents.example.org/mcp");
  EXPECT_EQ(oauth.audience, oauth.resource);
  EXPECT_EQ(oauth.jwks, "/etc/keys.json");
  EXPECT_EQ(oauth.subjects.at("7c9e"), "ann");
  EXPECT_EQ(oauth.subjects.at("12"), "bob");
  EXPECT_TRUE(oauth.scopes.empty());
  User(std::string(kOAuth) + "  audience: api://agents\n  scopes: [\"a:b\", c]\n");
  EXPECT_EQ(Load()->http.oauth.audience, "api://agents");
  EXPECT_EQ(Load()->http.oauth.scopes, (std::vector<std::string>{"a:b", "c"}));
}

TEST_F(LoadTest, AccessTokensNeedAllThatJudgesThem) {
  User("http: {issuer: https://issuer.example}");
  EXPECT_EQ(Faults(),
            "user.yaml:2:16: 'http.issuer' needs 'http.public_url', too\n"
            "user.yaml:2:16: 'http.issuer' needs 'http.jwks', too\n"
            "user.yaml:2:16: 'http.issuer' needs 'http.subjects', too\n");
  User("http: {scopes: [a], audience: b}");
  EXPECT_EQ(Faults(),
            "user.yaml:2:31: 'http.audience' is of access tokens: 'http.issuer' is missing\n"
            "user.yaml:2:8: 'http.scopes' is of access tokens: 'http.issuer' is missing\n");
  // Whoever is on the way could be the issuer.
  std::string plain(kOAuth);
  plain.replace(plain.find("https://issuer"), 5, "http");
  User(plain);
  EXPECT_EQ(Faults(),
            "user.yaml:4:11: the issuer must have an https URL, unless it is on this machine\n");
  plain.replace(plain.find("issuer.example"), 14, "localhost:8080");
  User(plain);
  EXPECT_TRUE(Load());
}

TEST_F(LoadTest, WhatStandsInAccessTokensIsText) {
  for (const char* good : {"  audience: \"\"\n", "  scopes: [openid]\n", "  scopes: []\n"}) {
    User(std::string(kOAuth) + good);
    EXPECT_TRUE(Load()) << good;
  }
  for (const char* bad :
       {"  audience: a b\n", "  audience: [a]\n", "  audience: \"\\u00e9\"\n", "  scopes: a\n",
        "  scopes: [a b]\n", "  scopes: [\"\"]\n", "  scopes: ['a\"']\n", "  scopes: ['a\\']\n"}) {
    User(std::string(kOAuth) + bad);
    EXPECT_NE(Faults(), "") << bad;
  }
  for (const char* bad :
       {"{\"\": ann}", "{a: \"\"}", "{a: [b]}", "[a]", "a", "{a: b, a: c}", "{}"}) {
    std::string policy(kOAuth);
    policy.replace(policy.find("{\"7c9e"), std::string::npos, bad);
    User(policy);
    EXPECT_NE(Faults(), "") << bad;
  }
}

TEST_F(LoadTest, KeysThatCommandsCouldWriteAreNotBelieved) {
  std::string policy(kOAuth);
  const std::size_t at = policy.find("/etc/keys.json");
  User(std::string(policy).replace(at, 14, (project_ / "keys.json").string()));
  EXPECT_NE(Faults().find("user.yaml:5:9: commands can write the keys of the issuer of tokens"),
            std::string::npos)
      << Faults();
  // Whoever exchanges a symlink exchanges the keys; that it leads elsewhere now is no comfort.
  std::filesystem::create_symlink("/etc/keys.json", project_ / "link.json");
  User(std::string(policy).replace(at, 14, (project_ / "link.json").string()));
  EXPECT_NE(Faults(), "");
  // Outside it may be one, which is followed whenever the keys are read.
  std::filesystem::create_symlink("/etc/keys.json", base_ / "link.json");
  User(std::string(policy).replace(at, 14, (base_ / "link.json").string()));
  EXPECT_EQ(Load()->http.oauth.jwks, base_ / "link.json");
}

}  // namespace
}  // namespace pa::policy
