#include "supervisor/daemon/front_door.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "supervisor/callers/vouch.h"
#include "supervisor/state/tenant_directory.h"
#include "supervisor/text/front_door_status.h"
#include "tests/support/issuer.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

class FrontDoorTest : public ::testing::Test {
 protected:
  FrontDoorTest() { Write({laptop_.token}); }

  static TokenTime Soon() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) +
           std::chrono::hours(1);
  }
  void Write(const std::vector<Token>& tokens) { WriteRaw(FormatTokens(tokens)); }
  void WriteRaw(const std::string& text) {
    const TenantPaths paths = TenantPathsOf(tenants_path_, 1000);
    std::filesystem::create_directories(paths.directory);
    testing::WriteText(paths.tokens, text);
    chmod(paths.tokens.c_str(), 0640);
    MarkTenantsChanged(tenants_path_).value();
  }
  HttpAnswer Get(const std::string& target,
                 std::vector<std::pair<std::string, std::string>> fields = {},
                 const std::string& method = "GET") {
    HttpHead head;
    head.method = method;
    head.target = target;
    head.fields = std::move(fields);
    if (head.Find("host") == nullptr) head.fields.emplace_back("host", "127.0.0.1:8787");
    head.fields.emplace_back("project-actions-address", "127.0.0.1");
    head.fields.emplace_back("project-actions-port", "8787");
    HttpPeer peer{.user = user_};
    auto answer = door_.Judge(head, peer);
    EXPECT_TRUE(answer);
    return std::move(answer).value_or(HttpAnswer{});
  }
  HttpAnswer Caller(const std::string& token,
                    std::vector<std::pair<std::string, std::string>> fields = {}) {
    fields.emplace_back("authorization", "Bearer " + token);
    return Get("/caller", std::move(fields));
  }
  static std::string Field(const HttpAnswer& answer, std::string_view name) {
    for (const auto& [key, value] : answer.fields) {
      if (key == name) return value;
    }
    return "";
  }

  testing::TempDir directory_;
  std::string tenants_path_ = directory_.path();
  const NewToken laptop_ = MakeToken("laptop", Soon(), Soon());
  std::shared_ptr<policy::HttpPolicy> policy_ = std::make_shared<policy::HttpPolicy>();
  TenantTable tenants_{tenants_path_};
  FrontDoor door_{tenants_, policy_};
  uid_t user_ = 7;  // who asks: the web server
};

TEST_F(FrontDoorTest, ATokenLeadsToItsTenant) {
  const HttpAnswer answer = Caller(laptop_.text);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(Field(answer, "Project-Actions-Tenant"), "1000");
  HttpPeer caller;
  ASSERT_EQ(ReadVouch(Field(answer, "Project-Actions-Caller"), caller), VouchKind::kKnown);
  EXPECT_EQ(caller.token_hash, Hex(laptop_.token.sha256));
  EXPECT_TRUE(answer.body.empty());
}

// For root and the daemon's own user: the web server, which strangers talk to, learns nothing.
TEST_F(FrontDoorTest, AnswersAreCounted) {
  Caller(laptop_.text);
  Caller(laptop_.text);
  Caller(laptop_.text + "x");
  Get("/caller", {{"host", "evil.example"}});
  EXPECT_EQ(Get("/metrics").status, 404);
  for (const uid_t trusted : {uid_t{0}, geteuid()}) {
    user_ = trusted;
    const auto status =
        ParseFrontDoorStatus(Get("/metrics", {{"accept", "application/json"}}).body);
    ASSERT_TRUE(status);
    EXPECT_EQ(*status, (FrontDoorStatus{.tenants = 1, .answers = {{200, 2}, {401, 1}, {403, 1}}}));
    const HttpAnswer metrics = Get("/metrics");
    EXPECT_EQ(metrics.type, kOpenMetricsType);
    EXPECT_TRUE(metrics.body.contains("requests_total{status=\"401\"} 1\n")) << metrics.body;
  }
}

TEST_F(FrontDoorTest, NobodyLearnsWhichTenantsThereAre) {
  const HttpAnswer none = Get("/caller");
  EXPECT_EQ(none.status, 401);
  EXPECT_NE(Field(none, "WWW-Authenticate"), "");
  const HttpAnswer wrong = Caller("pa_wrong");
  EXPECT_EQ(wrong.status, 401);
  Write({});
  const HttpAnswer revoked = Caller(laptop_.text);
  EXPECT_EQ(revoked.status, 401);
  EXPECT_EQ(revoked.fields, wrong.fields);
  EXPECT_EQ(revoked.body, wrong.body);
}

// Of the answers of a subrequest nginx passes on 401 and 403.
TEST_F(FrontDoorTest, TheStatusForTheClientIsAField) {
  WriteRaw("broken");
  const HttpAnswer unreadable = Caller("pa_wrong");
  EXPECT_EQ(unreadable.status, 403);
  EXPECT_EQ(Field(unreadable, "Project-Actions-Status"), "503");
  EXPECT_EQ(Get("/healthz").status, 503);
  Write({laptop_.token});
  EXPECT_EQ(Get("/healthz").status, 200);
}

TEST_F(FrontDoorTest, NoNameAndNoPageOfSomebodyElseLeadsHere) {
  EXPECT_EQ(Caller(laptop_.text, {{"host", "localhost:8787"}}).status, 200);
  for (const char* host : {"evil.example:8787", "127.0.0.1:8788", "agents.example"}) {
    const HttpAnswer answer = Caller(laptop_.text, {{"host", host}});
    EXPECT_EQ(answer.status, 403) << host;
    EXPECT_EQ(Field(answer, "Project-Actions-Status"), "403") << host;
  }
  EXPECT_EQ(Caller(laptop_.text, {{"origin", "https://app.example"}}).status, 403);
  policy_->public_host = "agents.example";
  policy_->origins = {"https://app.example"};
  EXPECT_EQ(Caller(laptop_.text, {{"host", "Agents.example"}}).status, 200);
  EXPECT_EQ(Caller(laptop_.text, {{"origin", "https://App.example"}}).status, 200);
  EXPECT_EQ(Caller(laptop_.text, {{"origin", "https://evil.example"}}).status, 403);
}

TEST_F(FrontDoorTest, ThereIsNothingElse) {
  EXPECT_EQ(Get("/").status, 404);
  EXPECT_EQ(Get("/mcp").status, 404);
  EXPECT_EQ(Get("/.well-known/oauth-protected-resource/mcp").status, 404);
  EXPECT_EQ(Get("/caller", {}, "POST").status, 405);
}

TEST_F(FrontDoorTest, ASubjectLeadsToItsUsersServer) {
  const testing::IssuerKey key("one");
  const std::string keys = directory_.path() / "keys.json";
  testing::WriteText(keys, testing::JwkSet({key.Jwk()}));
  chmod(keys.c_str(), 0644);
  std::filesystem::create_directory_symlink("1000", directory_.path() / "ann");
  policy_->oauth = {.issuer = "https://issuer.example",
                    .audience = "agents",
                    .resource = "https://agents.example/mcp",
                    .jwks = keys,
                    .subjects = {{"7c9e", "ann"}, {"8d", "bob"}}};
  const auto token = [&](const std::string& subject) {
    return key.Token(R"({"iss": "https://issuer.example", "aud": "agents", "sub": ")" + subject +
                     R"(", "exp": )" + std::to_string(Soon().time_since_epoch().count()) + "}");
  };
  const HttpAnswer ann = Caller(token("7c9e"));
  EXPECT_EQ(ann.status, 200);
  EXPECT_EQ(Field(ann, "Project-Actions-Tenant"), "1000");
  EXPECT_TRUE(Field(ann, "Project-Actions-Caller").starts_with("v1 access "));
  EXPECT_EQ(Caller(token("8d")).status, 401);
  EXPECT_EQ(Caller(token("none")).status, 401);
  EXPECT_EQ(Get("/.well-known/oauth-protected-resource/mcp").status, 200);

  policy_->oauth.scopes = {"agents:use"};
  const HttpAnswer scope = Caller(token("7c9e"));
  EXPECT_EQ(scope.status, 403);
  EXPECT_EQ(Field(scope, "Project-Actions-Status"), "403");
  EXPECT_TRUE(Field(scope, "WWW-Authenticate").contains("insufficient_scope"));
}

}  // namespace
}  // namespace pa
