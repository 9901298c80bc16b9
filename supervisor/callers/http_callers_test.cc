#include "supervisor/callers/http_callers.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/json.h"
#include "supervisor/callers/vouch.h"
#include "tests/support/issuer.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

class HttpCallersTest : public ::testing::Test {
 protected:
  static TokenTime Now() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  }
  void Write(const std::vector<Token>& tokens) { WriteRaw(FormatTokens(tokens)); }
  void WriteRaw(const std::string& text) {
    testing::WriteText(path_, text);
    chmod(path_.c_str(), 0600);
  }
  std::optional<HttpAnswer> Ask(const std::string& authorization) {
    peer_ = {};
    HttpHead head;
    if (!authorization.empty()) head.fields.emplace_back("authorization", authorization);
    return callers_.Identify(head, peer_);
  }

  std::optional<HttpAnswer> AskBearer(const std::string& token) { return Ask("Bearer " + token); }

  // From here on the policy has an issuer, of which `key_` is the key.
  policy::OAuthPolicy& TakeAccessTokens() {
    policy::OAuthPolicy& oauth = policy_->oauth;
    oauth = {.issuer = "https://issuer.example",
             .audience = "agents",
             .resource = "https://agents.example:8443/mcp",
             .jwks = (directory_.path() / "keys.json").string(),
             .subjects = {{"7c9e", "ann"}, {"8d", "ann"}}};
    Publish(testing::JwkSet({key_.Jwk()}));
    return oauth;
  }
  void Publish(const std::string& keys) {
    testing::WriteText(policy_->oauth.jwks, keys);
    chmod(policy_->oauth.jwks.c_str(), 0644);
  }
  std::string AccessToken(const std::string& subject = "7c9e", const std::string& more = "") const {
    const auto expires = Now() + std::chrono::hours(1);
    return key_.Token(R"({"iss": "https://issuer.example", "aud": "agents", "sub": ")" + subject +
                      R"(", "exp": )" + std::to_string(expires.time_since_epoch().count()) + more +
                      "}");
  }

  testing::TempDir directory_;
  std::string path_ = (directory_.path() / "tokens.json").string();
  std::shared_ptr<policy::HttpPolicy> policy_ = std::make_shared<policy::HttpPolicy>();
  testing::IssuerKey key_{"one"};
  static constexpr uid_t kFrontDoor = 7;
  TokenFile tokens_{path_};
  HttpCallers callers_{tokens_, ServedUser("ann"), [this] { return policy_; }, kFrontDoor};
  HttpPeer peer_;
};

TEST_F(HttpCallersTest, ATokenNamesItsClient) {
  const NewToken laptop = MakeToken("laptop", Now(), std::nullopt);
  Write({laptop.token});
  for (const std::string scheme : {"Bearer ", "bearer ", "BEARER   "}) {
    EXPECT_FALSE(Ask(scheme + laptop.text)) << scheme;
    EXPECT_EQ(peer_.token, "laptop");
  }
}

// The answer says nothing about the tokens that there are.
TEST_F(HttpCallersTest, WhoIsNotKnownIsToldOneThing) {
  const NewToken laptop = MakeToken("laptop", Now(), std::nullopt);
  const NewToken old = MakeToken("old", Now(), Now() - std::chrono::hours(1));
  Write({laptop.token, old.token});
  const auto unknown = Ask("Bearer " + MakeToken("x", Now(), std::nullopt).text);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->status, 401);
  for (const std::string& given :
       {"Bearer " + old.text, "Basic " + laptop.text, laptop.text, std::string("Bearer "),
        std::string("Bearer"), "Bearer " + laptop.text + ", Bearer " + laptop.text,
        std::string("Bearer laptop"), "Bearer " + Hex(laptop.token.sha256)}) {
    const auto answer = Ask(given);
    ASSERT_TRUE(answer) << given;
    EXPECT_EQ(answer->status, 401);
    EXPECT_EQ(answer->body, unknown->body);
    EXPECT_EQ(answer->fields, unknown->fields);
    EXPECT_EQ(peer_.token, "");
  }
  const auto none = Ask("");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->status, 401);
  EXPECT_EQ(none->fields[0].second, R"(Bearer realm="project-actions")");
}

TEST_F(HttpCallersTest, WithoutAReadableFileNobodyIsKnown) {
  WriteRaw("broken");
  EXPECT_EQ(Ask("Bearer x")->status, 503);
  EXPECT_FALSE(callers_.CanBeKnown());
  std::filesystem::remove(path_);
  EXPECT_EQ(Ask("Bearer x")->status, 401);
  EXPECT_FALSE(*callers_.CanBeKnown());
}

TEST_F(HttpCallersTest, ATokenThatIsRevokedIsNotKnownAnyMore) {
  const NewToken laptop = MakeToken("laptop", Now(), std::nullopt);
  const NewToken other = MakeToken("other", Now(), std::nullopt);
  Write({laptop.token, other.token});
  ASSERT_FALSE(Ask("Bearer " + laptop.text));
  const HttpPeer peer = peer_;
  EXPECT_TRUE(callers_.StillKnows(peer));
  Write({other.token, MakeToken("laptop", Now(), std::nullopt).token});
  EXPECT_FALSE(callers_.StillKnows(peer)) << "another of the same name is there";
  Write({laptop.token});
  EXPECT_TRUE(callers_.StillKnows(peer));
  WriteRaw("broken");
  EXPECT_FALSE(callers_.StillKnows(peer));
  EXPECT_FALSE(callers_.StillKnows({}));
  EXPECT_TRUE(callers_.StillKnows({.user = 8}));
}

TEST_F(HttpCallersTest, TheKernelNamesWhoComesByAUnixSocket) {
  HttpPeer peer{.user = 8};
  EXPECT_FALSE(callers_.Identify({}, peer));
  EXPECT_EQ(peer.token, "");
  EXPECT_EQ(peer.user, 8u);
}

TEST_F(HttpCallersTest, AFrontDoorSaysWhoItIs) {
  const NewToken laptop = MakeToken("laptop", Now(), Now() + std::chrono::hours(1));
  Write({laptop.token});
  ASSERT_FALSE(AskBearer(laptop.text));
  const std::string vouch = FormatVouch(peer_, laptop.text);
  EXPECT_FALSE(vouch.contains(laptop.text));
  const auto by_door = [&](const std::string& word) {
    peer_ = {.user = kFrontDoor};
    HttpHead head;
    if (!word.empty()) head.fields.emplace_back(kVouchField, word);
    return callers_.Identify(head, peer_);
  };
  EXPECT_FALSE(by_door(vouch));
  EXPECT_EQ(peer_.token, "laptop");
  EXPECT_EQ(peer_.token_hash, Hex(laptop.token.sha256));
  EXPECT_FALSE(peer_.user);
  EXPECT_TRUE(callers_.StillKnows(peer_));
  // The front door has sent it to the wrong tenant, or it was revoked in between.
  const std::string strange = "v1 token " + Hex(Sha256Of("another"));
  for (const std::string& wrong : {std::string(), std::string("token"), std::string("laptop"),
                                   std::string("v1 token laptop"), strange}) {
    const auto answer = by_door(wrong);
    ASSERT_TRUE(answer) << wrong;
    EXPECT_EQ(answer->status, wrong == strange ? 401 : 403) << wrong;
    EXPECT_EQ(peer_.user, kFrontDoor);
  }
  int newer = 0;
  callers_.WhenDoorIsAnother([&] { ++newer; });
  EXPECT_EQ(by_door("v2" + vouch.substr(2))->status, 503);
  EXPECT_EQ(newer, 1);
  EXPECT_EQ(peer_.user, kFrontDoor);
  Write({});
  EXPECT_EQ(by_door(vouch)->status, 401);
  EXPECT_EQ(newer, 1);
  // Whoever else says so is believed nothing.
  Write({laptop.token});
  peer_ = {};
  HttpHead head;
  head.fields.emplace_back(kVouchField, vouch);
  EXPECT_EQ(callers_.Identify(head, peer_)->status, 401);
}

TEST_F(HttpCallersTest, AFrontDoorHasSeenTheSignatureAndNothingElseIsBelieved) {
  policy::OAuthPolicy& oauth = TakeAccessTokens();
  const std::string token = AccessToken();
  ASSERT_FALSE(AskBearer(token));
  const std::string vouch = FormatVouch(peer_, token);
  EXPECT_FALSE(vouch.contains(token.substr(token.rfind('.'))));
  const auto by_door = [&](const std::string& word) {
    peer_ = {.user = kFrontDoor};
    HttpHead head;
    head.fields.emplace_back(kVouchField, word);
    return callers_.Identify(head, peer_);
  };
  EXPECT_FALSE(by_door(vouch));
  EXPECT_EQ(peer_.token, "7c9e");
  EXPECT_FALSE(peer_.user);
  EXPECT_TRUE(callers_.StillKnows(peer_));

  EXPECT_EQ(by_door(vouch + "x")->status, 403);
  EXPECT_EQ(by_door("v1 access " + Hex(Sha256Of("")) + vouch.substr(vouch.rfind(' ')))->status,
            401);
  oauth.scopes = {"agents:use"};
  EXPECT_EQ(by_door(vouch)->status, 403);
  oauth.scopes.clear();
  oauth.subjects["7c9e"] = "bob";
  EXPECT_EQ(by_door(vouch)->status, 401);
  oauth.subjects["7c9e"] = "ann";
  EXPECT_FALSE(by_door(vouch));
  Publish("broken");
  EXPECT_EQ(by_door(vouch)->status, 503);
  oauth = {};
  EXPECT_EQ(by_door(vouch)->status, 401);
}

TEST_F(HttpCallersTest, AnAccessTokenNamesItsSubject) {
  TakeAccessTokens();
  const NewToken laptop = MakeToken("laptop", Now(), std::nullopt);
  Write({laptop.token});
  ASSERT_FALSE(AskBearer(AccessToken()));
  EXPECT_EQ(peer_.token, "7c9e");
  EXPECT_EQ(peer_.Issuer(), "https://issuer.example");
  EXPECT_EQ(peer_.token_hash, "");
  const HttpPeer first = peer_;
  ASSERT_FALSE(AskBearer(AccessToken("7c9e", R"(, "jti": "2")")));
  EXPECT_TRUE(peer_.IsSameCaller(first));
  ASSERT_FALSE(AskBearer(AccessToken("8d")));
  EXPECT_FALSE(peer_.IsSameCaller(first));
  // Ours are taken beside them, and are no subject of that name.
  ASSERT_FALSE(AskBearer(laptop.text));
  EXPECT_EQ(peer_.token, "laptop");
  EXPECT_EQ(peer_.Issuer(), "");
  EXPECT_FALSE(peer_.IsSameCaller({.token = "laptop", .claims = first.claims}));
}

TEST_F(HttpCallersTest, WithoutAnIssuerNoAccessTokenIsTaken) {
  TakeAccessTokens();
  const std::string token = AccessToken();
  EXPECT_FALSE(AskBearer(token));
  policy_->oauth.issuer.clear();
  const auto refused = AskBearer(token);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 401);
  EXPECT_EQ(refused->fields[0].second, R"(Bearer realm="project-actions", error="invalid_token")");
}

TEST_F(HttpCallersTest, WhoeverIsNotKnownIsToldOneThingAndWhereTheIssuerIs) {
  TakeAccessTokens();
  Write({});
  const std::string metadata = R"(, resource_metadata="https://agents.example:8443)"
                               R"(/.well-known/oauth-protected-resource/mcp")";
  const auto none = Ask("");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->status, 401);
  EXPECT_EQ(none->fields[0].second, R"(Bearer realm="project-actions")" + metadata);
  const auto unknown = AskBearer("pa_" + std::string(64, '0'));
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->fields[0].second,
            R"(Bearer realm="project-actions", error="invalid_token")" + metadata);
  for (const std::string& token : {std::string("x"), std::string(), AccessToken("unknown"),
                                   AccessToken("7c9e", ", \"nbf\": 1e12"), AccessToken() + "x",
                                   testing::IssuerKey("two").Token("{}"), key_.Token("{}")}) {
    const auto answer = AskBearer(token);
    ASSERT_TRUE(answer) << token;
    EXPECT_EQ(answer->status, 401);
    EXPECT_EQ(answer->body, unknown->body);
    EXPECT_EQ(answer->fields, unknown->fields);
    EXPECT_EQ(peer_.token, "");
    EXPECT_FALSE(peer_.claims);
  }
}

TEST_F(HttpCallersTest, AScopeThatIsMissingIsNamed) {
  TakeAccessTokens().scopes = {"a:b", "c"};
  EXPECT_FALSE(AskBearer(AccessToken("7c9e", R"(, "scope": "c a:b")")));
  const auto answer = AskBearer(AccessToken());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 403);
  EXPECT_EQ(answer->fields[0].second,
            R"(Bearer realm="project-actions", error="insufficient_scope", )"
            R"(resource_metadata="https://agents.example:8443)"
            R"(/.well-known/oauth-protected-resource/mcp")"
            R"(, scope="a:b c")");
  EXPECT_EQ(AskBearer(AccessToken("unknown"))->status, 401);
}

TEST_F(HttpCallersTest, WithoutKeysNobodyIsRefusedOrKnown) {
  TakeAccessTokens();
  const NewToken laptop = MakeToken("laptop", Now(), std::nullopt);
  Write({laptop.token});
  ASSERT_FALSE(AskBearer(AccessToken()));
  const HttpPeer peer = peer_;
  Publish("broken");
  EXPECT_EQ(AskBearer(AccessToken())->status, 503);
  EXPECT_FALSE(callers_.StillKnows(peer));
  EXPECT_FALSE(AskBearer(laptop.text)) << "ours need no issuer";
  EXPECT_TRUE(*callers_.CanBeKnown());
  Write({});
  EXPECT_FALSE(callers_.CanBeKnown());
  Publish(testing::JwkSet({key_.Jwk()}));
  EXPECT_TRUE(*callers_.CanBeKnown()) << "no token of ours is needed";
  EXPECT_FALSE(AskBearer(AccessToken()));
  EXPECT_TRUE(callers_.StillKnows(peer));
  policy_->oauth.subjects.erase("7c9e");
  EXPECT_FALSE(callers_.StillKnows(peer));
}

TEST_F(HttpCallersTest, TheMetadataSayWhoMakesTokens) {
  EXPECT_EQ(callers_.Metadata("/.well-known/oauth-protected-resource"), std::nullopt);
  policy::OAuthPolicy& oauth = TakeAccessTokens();
  EXPECT_EQ(callers_.Metadata("/.well-known/oauth-protected-resource/mcp"),
            R"({"resource":"https://agents.example:8443/mcp","authorization_servers":)"
            R"(["https://issuer.example"],"bearer_methods_supported":["header"],)"
            R"("resource_name":"project-actions"})");
  oauth.scopes = {"a"};
  const auto document = callers_.Metadata("/.well-known/oauth-protected-resource");
  ASSERT_TRUE(document);
  EXPECT_NE(document->find(R"("scopes_supported":["a"])"), std::string::npos) << *document;
  for (const char* other : {"/.well-known/oauth-protected-resource/", "/.well-known", "/mcp",
                            "/.well-known/oauth-protected-resource/other"}) {
    EXPECT_EQ(callers_.Metadata(other), std::nullopt) << other;
  }
  // A path of / alone is none.
  oauth.resource = "https://agents.example/";
  EXPECT_EQ(callers_.Metadata("/.well-known/oauth-protected-resource/mcp"), std::nullopt);
  EXPECT_NE(Ask("")->fields[0].second.find(
                R"("https://agents.example/.well-known/oauth-protected-resource")"),
            std::string::npos);
}

// The log gets each reason once, whatever clients try, and nothing of a token.
TEST_F(HttpCallersTest, TheLogSaysWhyAndNotEndlessly) {
  TakeAccessTokens();
  Write({});
  // Tests do not say where the log goes.
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i)
    AskBearer(testing::IssuerKey("two").Token(
        R"({"iss": "https://issuer.example", "sub": "hidden", "aud": "agents", "exp": 9e9})"));
  for (int i = 0; i < 100; ++i) {
    AskBearer(key_.Token(R"({"iss": "https://x)" + std::to_string(i) +
                         R"(.example", "sub": "s", "aud": "a", "exp": 1})"));
  }
  const std::string said =
      ::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("does not hold the key 'two'"), said.rfind("does not hold the key 'two'"));
  EXPECT_NE(said.find("does not hold the key 'two'"), std::string::npos) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 33) << said;
  EXPECT_EQ(said.find("hidden"), std::string::npos);
  EXPECT_EQ(said.find("eyJ"), std::string::npos);
}

}  // namespace
}  // namespace pa
