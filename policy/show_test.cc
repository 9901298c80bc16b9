#include "base/json.h"
#include "policy/fragment.h"
#include "policy/keys.h"
#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

class ShowTest : public PolicyTest {
 protected:
  // Every key set to something else than its default, with text that YAML could misread.
  void Everything() {
    std::filesystem::create_directories(home_ / "src/# odd: \"name\"");
    User(R"(roots: ["~/src/# odd: \"name\"", ~/src]
tools: {enable: [make, git_add]}
pipeline: {tools: [make]}
permissions:
  - {tool: make, target: "deploy*", decision: deny,
     reason: "touches \"production\" # really: yes\n"}
  - {tool: "*", decision: allow}
filesystem: {read: [/data], write: ["/srv/a b"], toolchains: none}
network: full
environment: {pass: [CI, HTTP_PROXY], set: {A: "", B: "x: y # z", C: "grün\t\"q\""}}
limits: {wall_time: 90s, cpu_time: 1500ms, memory: 3MiB, processes: 7, cpus: 2, open_files: 99,
         file_size: 1023B, output_inline: 1KiB, output_total: 1MiB, commit_message: 5B,
         concurrent: 1, queue: 0}
git: {identity: none, hooks: skip}
http: {public_url: "https://a.example", issuer: "https://i.example", audience: "no", jwks: "/k: y",
       scopes: ["a:b", "#c"], subjects: {"auth0|x: y # z": ann, "no": bob, "{": "7"}}
)");
  }
};

// Equal in all that decides; places and reasons differ.
void ExpectSame(const Policy& a, const Policy& b) {
  EXPECT_EQ(a.roots, b.roots);
  EXPECT_EQ(a.enabled_tools, b.enabled_tools);
  EXPECT_EQ(a.enable_all, b.enable_all);
  EXPECT_EQ(a.inner_tools, b.inner_tools);
  EXPECT_EQ(a.network, b.network);
  EXPECT_EQ(a.environment_pass, b.environment_pass);
  EXPECT_EQ(a.environment_set, b.environment_set);
  EXPECT_EQ(a.limits, b.limits);
  EXPECT_EQ(a.git.hooks, b.git.hooks);
  EXPECT_EQ(a.git.inherit_identity, b.git.inherit_identity);
  EXPECT_EQ(a.http.oauth.issuer, b.http.oauth.issuer);
  EXPECT_EQ(a.http.oauth.audience, b.http.oauth.audience);
  EXPECT_EQ(a.http.oauth.jwks, b.http.oauth.jwks);
  EXPECT_EQ(a.http.oauth.scopes, b.http.oauth.scopes);
  EXPECT_EQ(a.http.oauth.subjects, b.http.oauth.subjects);
  ASSERT_EQ(a.permissions.size(), b.permissions.size());
  for (std::size_t i = 0; i < a.permissions.size(); ++i) {
    EXPECT_EQ(a.permissions[i].tool, b.permissions[i].tool);
    EXPECT_EQ(a.permissions[i].target, b.permissions[i].target);
    EXPECT_EQ(a.permissions[i].verdict, b.permissions[i].verdict);
    EXPECT_EQ(a.permissions[i].reason, b.permissions[i].reason);
  }
  ASSERT_EQ(a.filesystem.size(), b.filesystem.size());
  for (std::size_t i = 0; i < a.filesystem.size(); ++i) {
    EXPECT_EQ(a.filesystem[i].path, b.filesystem[i].path);
    EXPECT_EQ(a.filesystem[i].access, b.filesystem[i].access);
  }
}

TEST_F(ShowTest, WhatIsShownCanBeLoaded) {
  Everything();
  const PolicyPtr policy = Load();
  ASSERT_NE(policy, nullptr);
  pa::testing::WriteText(base_ / "user.yaml", ShowPolicy(*policy, false));
  const PolicyPtr again = Load();
  ASSERT_NE(again, nullptr) << ShowPolicy(*policy, false);
  ExpectSame(*policy, *again);
}

TEST_F(ShowTest, SoCanTheDefaults) {
  const PolicyPtr policy = Load();
  ASSERT_NE(policy, nullptr);
  pa::testing::WriteText(base_ / "user.yaml", ShowPolicy(*policy, false));
  const PolicyPtr again = Load();
  ASSERT_NE(again, nullptr);
  ExpectSame(*policy, *again);
}

TEST_F(ShowTest, EveryValueSaysWhereItComesFrom) {
  Administrator("network: none");
  User("limits: {memory: 1GiB}");
  sources_.enable = {"make"};
  const std::string text = ShowPolicy(*Load(), false);
  const auto has = [&](const std::string& line) { return text.find(line) != std::string::npos; };
  EXPECT_TRUE(has("\nnetwork: none  # " + (base_ / "administrator.yaml").string() + ":2:10\n"));
  EXPECT_TRUE(has("\n  memory: 1GiB  # " + (base_ / "user.yaml").string() + ":2:18\n"));
  EXPECT_TRUE(has("\n  enable:  # --enable\n    - \"make\"  # --enable\n"));
  EXPECT_TRUE(has("\npipeline:\n  tools:  # --enable\n    - \"make\"  # --enable\n"));
  EXPECT_TRUE(has("\n  queue: 64  # default\n"));
  EXPECT_TRUE(has("\nroots:  # current directory\n"));
  EXPECT_TRUE(has("\n# From " + (base_ / "user.yaml").string() + "\n"));
}

TEST_F(ShowTest, CachesAreShownWithTheirVariables) {
  const std::string base = home_ / ".local/state/project-actions/caches";
  const std::string text = ShowPolicy(*Load(), false);
  EXPECT_NE(text.find("one directory a project, in " + base + "\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n#   GOCACHE=${PROJECT_CACHE}/go-build\n"), std::string::npos) << text;
  const Result<JsonValue> json = ParseJson(ShowPolicy(*Load(), true));
  EXPECT_EQ(json->Find("caches")->Find("directory")->AsString(), base);
  EXPECT_NE(json->Find("caches")->Find("variables")->Find("GOCACHE"), nullptr);
  User("filesystem: {toolchains: none}");
  EXPECT_EQ(ShowPolicy(*Load(), false).find("GOCACHE"), std::string::npos);
}

TEST_F(ShowTest, RelaxationsAreShown) {
  const std::string remark = "\n# Relaxed: full_network (network: full, ";
  EXPECT_EQ(ShowPolicy(*Load(), false).find("Relaxed"), std::string::npos);
  EXPECT_EQ(ParseJson(ShowPolicy(*Load(), true))->Find("relaxations")->Dump(), "[]");
  User("network: full");
  EXPECT_NE(ShowPolicy(*Load(), false).find(remark), std::string::npos);
  const Result<JsonValue> json = ParseJson(ShowPolicy(*Load(), true));
  EXPECT_EQ(json->Find("relaxations")->Items().at(0).Find("name")->AsString(), "full_network");
}

TEST_F(ShowTest, RulesOfTwoAuthorsAreNotOneList) {
  const std::string remark = "asked apart; both must allow";
  User("permissions: [{tool: make, decision: allow}]");
  EXPECT_EQ(ShowPolicy(*Load(), false).find(remark), std::string::npos);
  Administrator("permissions: [{tool: make, decision: allow}]");
  EXPECT_NE(ShowPolicy(*Load(), false).find(remark), std::string::npos);
}

TEST_F(ShowTest, JsonIsOneLineWithEveryKey) {
  Everything();
  const std::string text = ShowPolicy(*Load(), true);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const Result<JsonValue> json = ParseJson(text);
  ASSERT_TRUE(json.has_value());
  for (const Key& key : PolicyKeys()) {
    if (key.type == Type::kNotBuilt || key.type == Type::kVersion) continue;
    const JsonValue* value = json->Find("policy");
    if (!key.Section().empty()) value = value->Find(key.Section());
    ASSERT_NE(value, nullptr) << key.name;
    EXPECT_NE(value->Find(key.Word()), nullptr) << key.name;
    EXPECT_NE(json->Find("from")->Find(key.name), nullptr) << key.name;
  }
  EXPECT_EQ(json->Find("policy")->Find("limits")->Find("processes")->AsInteger(), 7);
}

}  // namespace
}  // namespace pa::policy
