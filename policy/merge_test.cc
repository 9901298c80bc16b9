// The administrator's ceiling, key by key: each refusal beside what is allowed.
#include "policy/merge.h"

#include "policy/decide.h"
#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

class MergeTest : public PolicyTest {
 protected:
  void ExpectAccepted(const std::string& administrator, const std::string& user) {
    Administrator(administrator);
    User(user);
    EXPECT_EQ(Faults(), "") << administrator << " / " << user;
  }
  void ExpectRefused(const std::string& administrator, const std::string& user,
                     const std::string& message) {
    Administrator(administrator);
    User(user);
    EXPECT_EQ(Faults(), message + "\n");
  }
};

TEST_F(MergeTest, Limits) {
  ExpectRefused("limits: {memory: 2GiB}", "limits: {memory: 4GiB}",
                "user.yaml:2:18: 'limits.memory' 4GiB is more than the administrator's 2GiB "
                "(administrator.yaml:2:18)");
  ExpectAccepted("limits: {memory: 2GiB}", "limits: {memory: 2GiB}");
  ExpectAccepted("limits: {memory: 2GiB}", "limits: {memory: 1GiB, queue: 9999}");
  EXPECT_EQ(Load()->limits.memory, 1u << 30);
}

TEST_F(MergeTest, OnlyTheAdministratorSetsIt) {
  Administrator(
      "limits: {wall_time: 1h}\nnetwork: full\ntools: {enable: [make]}\ngit: {hooks: skip}");
  const PolicyPtr policy = Load();
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->limits.wall_time, std::chrono::hours(1));
  EXPECT_EQ(policy->network, sandbox::Network::kFull);
  EXPECT_EQ(policy->enabled_tools, std::set<std::string>{"make"});
  EXPECT_EQ(policy->git.hooks, Hooks::kSkip);
}

TEST_F(MergeTest, EachLayerIsHeldToTheCeiling) {
  Administrator("limits: {commit_message: 8KiB}");
  User("limits: {commit_message: 64KiB}");
  sources_.env_commit_size = "16KiB";
  EXPECT_EQ(Faults(),
            "PROJECT_ACTIONS_MAX_COMMIT_SIZE: 'limits.commit_message' 16KiB is more than the "
            "administrator's 8KiB (administrator.yaml:2:26)\n"
            "user.yaml:2:26: 'limits.commit_message' 64KiB is more than the administrator's 8KiB "
            "(administrator.yaml:2:26)\n");
  User("");
  sources_.env_commit_size = "4096";
  EXPECT_EQ(Load()->limits.commit_message, 4096u);
}

TEST_F(MergeTest, TheAuditLogIsTheAdministrators) {
  ExpectRefused(
      "audit: {to: none}", "audit: {to: file}",
      "user.yaml:2:13: 'audit.to' is the administrator's alone (administrator.yaml:2:13)");
  ExpectRefused("audit: {path: /var/log/a}", "audit: {path: /var/log/b}",
                "user.yaml:2:15: 'audit.path' is the administrator's alone "
                "(administrator.yaml:2:15)");
  ExpectRefused("audit: {sync: false}", "audit: {sync: true}",
                "user.yaml:2:15: 'audit.sync' is the administrator's alone "
                "(administrator.yaml:2:15)");
  ExpectAccepted("audit: {path: /var/log/a}", "audit: {path: /var/log/a, sync: true}");
}

// Not even fewer scopes, or one subject more: that would admit callers.
TEST_F(MergeTest, WhoMayCallIsTheAdministrators) {
  const std::string rest =
      "http: {public_url: \"https://a.example\", issuer: \"https://i.example\", jwks: /k, ";
  const std::string theirs = rest + "scopes: [a, b], subjects: {s: ann}}";
  Administrator(theirs);
  for (const char* same : {"{scopes: [a, b]}", "{subjects: {s: ann}}", "{jwks: /k}",
                           "{issuer: \"https://i.example\"}"}) {
    User("http: " + std::string(same));
    EXPECT_TRUE(Load()) << same;
  }
  for (const auto& [key, other] : {std::pair{"issuer", "\"https://j.example\""},
                                   {"jwks", "/l"},
                                   {"audience", "x"},
                                   {"scopes", "[a]"},
                                   {"scopes", "[a, b, c]"},
                                   {"scopes", "[]"},
                                   {"subjects", "{t: ann}"},
                                   {"public_url", "\"https://b.example\""}}) {
    Administrator(std::string(key) == "audience" ? rest + "audience: y, subjects: {s: ann}}"
                                                 : theirs);
    User("http: {" + std::string(key) + ": " + other + "}");
    EXPECT_NE(Faults().find("'http." + std::string(key) + "' is the administrator's alone"),
              std::string::npos)
        << key << Faults();
  }
  Administrator(theirs);
  User("http: {subjects: {s: bob}}");
  EXPECT_NE(Faults().find("has another value than the administrator's"), std::string::npos);
  // What the administrator leaves open is the user's.
  Administrator("http: {origins: [\"https://o.example\"]}");
  User(theirs);
  EXPECT_EQ(Load()->http.oauth.subjects.at("s"), "ann");
}

TEST_F(MergeTest, Choices) {
  ExpectRefused("network: none", "network: full",
                "user.yaml:2:10: 'network' full is weaker than the administrator's none "
                "(administrator.yaml:2:10)");
  ExpectAccepted("network: full", "network: none");
  EXPECT_EQ(Load()->network, sandbox::Network::kNone);
  ExpectRefused("git: {hooks: skip}", "git: {hooks: run}",
                "user.yaml:2:14: 'git.hooks' run is weaker than the administrator's skip "
                "(administrator.yaml:2:14)");
  ExpectAccepted("git: {hooks: run}", "git: {hooks: skip}");
  ExpectRefused("filesystem: {toolchains: none}", "filesystem: {toolchains: auto}",
                "user.yaml:2:26: 'filesystem.toolchains' auto is weaker than the administrator's "
                "none (administrator.yaml:2:26)");
}

TEST_F(MergeTest, Tools) {
  ExpectRefused("tools: {enable: [make]}", "tools: {enable: [make, git_add]}",
                "user.yaml:2:24: 'git_add' is beyond the administrator's tools.enable "
                "(administrator.yaml:2:9)");
  ExpectRefused("tools: {enable: [make]}", "tools: {enable: [all]}",
                "user.yaml:2:18: 'all' is beyond the administrator's tools.enable "
                "(administrator.yaml:2:9)");
  ExpectAccepted("tools: {enable: [all]}", "tools: {enable: [make]}");
  EXPECT_FALSE(Load()->enable_all);
  Administrator("tools: {enable: [make]}");
  User("");
  sources_.enable = {"git_add"};
  EXPECT_EQ(Faults(),
            "--enable: 'git_add' is beyond the administrator's tools.enable "
            "(administrator.yaml:2:9)\n");
  sources_.enable = {"make"};
  EXPECT_EQ(Faults(), "");
}

TEST_F(MergeTest, ToolsOfAPipeline) {
  using Names = std::set<std::string>;
  const std::string on = "tools: {enable: [make, bash]}\n";
  ExpectRefused("pipeline: {tools: [make]}", "pipeline: {tools: [make, bash]}",
                "user.yaml:2:26: 'bash' is beyond the administrator's pipeline.tools "
                "(administrator.yaml:2:12)");
  ExpectRefused("pipeline: {tools: []}", "pipeline: {tools: [make]}",
                "user.yaml:2:20: 'make' is beyond the administrator's pipeline.tools "
                "(administrator.yaml:2:12)");
  ExpectAccepted("pipeline: {tools: [make, bash]}", "pipeline: {tools: [make]}");
  EXPECT_EQ(Load()->inner_tools, Names{"make"});
  ExpectAccepted("pipeline: {tools: [make]}", on);
  EXPECT_EQ(Load()->inner_tools, Names{"make"}) << "the default stays below the ceiling";
  ExpectAccepted("pipeline: {tools: []}", on);
  EXPECT_EQ(Load()->inner_tools, Names{});
  ExpectAccepted(on, "tools: {enable: [make]}");
  EXPECT_EQ(Load()->inner_tools, Names{"make"});
  ExpectAccepted(on, "");
  EXPECT_EQ(Load()->inner_tools, (Names{"make", "bash"}));
}

TEST_F(MergeTest, Roots) {
  std::filesystem::create_directories(home_ / "elsewhere");
  ExpectRefused("roots: [~/src]", "roots: [~/src/project, ~/elsewhere]",
                "user.yaml:2:24: 'home/elsewhere' is beyond the administrator's roots "
                "(administrator.yaml:2:1)");
  ExpectAccepted("roots: [~/src]", "roots: [~/src/project]");
  User("");
  sources_.roots = {home_ / "elsewhere"};
  EXPECT_EQ(Faults(),
            "--root: 'home/elsewhere' is beyond the administrator's roots "
            "(administrator.yaml:2:1)\n");
}

TEST_F(MergeTest, ASymlinkLeadsToNoOtherRoot) {
  std::filesystem::create_directories(home_ / "elsewhere");
  std::filesystem::create_directory_symlink(home_ / "elsewhere", home_ / "src/link");
  ExpectRefused("roots: [~/src]", "roots: [~/src/link]",
                "user.yaml:2:9: 'home/elsewhere' is beyond the administrator's roots "
                "(administrator.yaml:2:1)");
}

TEST_F(MergeTest, TheAdministratorsRootsHoldForManyUsers) {
  Administrator("roots: [~/nowhere, ~/src]");
  sources_.current_directory = "/usr";
  EXPECT_EQ(Load()->roots, std::vector<std::string>{home_ / "src"});
  Administrator("roots: [~/nowhere]");
  EXPECT_EQ(Faults(), "administrator.yaml:2:1: none of the roots is a directory\n");
}

TEST_F(MergeTest, FileSystem) {
  ExpectRefused("filesystem: {read: [/data]}", "filesystem: {read: [/data/x, /other]}",
                "user.yaml:2:30: '/other' is beyond the administrator's filesystem.read "
                "(administrator.yaml:2:14)");
  ExpectRefused("filesystem: {write: [/data]}", "filesystem: {write: [/data2]}",
                "user.yaml:2:22: '/data2' is beyond the administrator's filesystem.write "
                "(administrator.yaml:2:14)");
  // What may be written may be read, in both directions.
  ExpectAccepted("filesystem: {read: [], write: [/data]}", "filesystem: {read: [/data/x]}");
  ExpectRefused("filesystem: {read: [/data]}", "filesystem: {write: [/other]}",
                "user.yaml:2:22: '/other' is beyond the administrator's filesystem.read "
                "(administrator.yaml:2:14)");
  ExpectAccepted("filesystem: {read: [/data]}", "filesystem: {write: [/data]}");
  ExpectAccepted("filesystem: {write: [/data]}", "filesystem: {read: [/other]}");
}

TEST_F(MergeTest, WhatIsProtectedAddsUp) {
  const auto places = [&] {
    std::vector<std::string> paths;
    const PolicyPtr policy = Load();
    for (const ConfiguredPath& place : policy->protect) paths.push_back(place.path);
    return paths;
  };
  ExpectAccepted("filesystem: {protect: [ci, a]}", "filesystem: {protect: []}");
  EXPECT_EQ(places(), (std::vector<std::string>{"ci", "a"}));
  ExpectAccepted("filesystem: {protect: [ci]}", "filesystem: {protect: [b, ci, ./c//d/]}");
  EXPECT_EQ(places(), (std::vector<std::string>{"ci", "b", "c/d"}));
  EXPECT_NE(Load()->protect.at(1).reason.find("user.yaml:2:24"), std::string::npos);
  ExpectAccepted("", "filesystem: {protect: [b]}");
  EXPECT_EQ(places(), std::vector<std::string>{"b"});
  ExpectAccepted("", "");
  EXPECT_EQ(places(), std::vector<std::string>{});
}

TEST_F(MergeTest, NobodyGivesUpWhatTheAdministratorKeeps) {
  ExpectAccepted("", "filesystem: {unprotect: [.envrc]}");
  EXPECT_EQ(Load()->unprotect, std::vector<std::string>{".envrc"});
  ExpectAccepted("filesystem: {unprotect: [.envrc, mise.toml]}",
                 "filesystem: {unprotect: [.envrc]}");
  EXPECT_EQ(Load()->unprotect, std::vector<std::string>{".envrc"});
  ExpectRefused("filesystem: {unprotect: []}", "filesystem: {unprotect: [.envrc]}",
                "user.yaml:2:26: '.envrc' is beyond the administrator's filesystem.unprotect "
                "(administrator.yaml:2:14)");
}

TEST_F(MergeTest, Environment) {
  ExpectRefused("environment: {pass: [CI]}", "environment: {pass: [CI, TOKEN]}",
                "user.yaml:2:26: 'TOKEN' is beyond the administrator's environment.pass "
                "(administrator.yaml:2:15)");
  ExpectAccepted("environment: {pass: [CI, TOKEN]}", "environment: {pass: [CI]}");
  ExpectRefused("environment: {set: {A: 1}}", "environment: {set: {A: 2}}",
                "user.yaml:2:21: 'A' in environment.set has another value than the "
                "administrator's (administrator.yaml:2:21)");
  ExpectAccepted("environment: {set: {A: 1}}", "environment: {set: {B: 2}}");
  EXPECT_EQ(Load()->environment_set, (std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}}));
}

}  // namespace
}  // namespace pa::policy
