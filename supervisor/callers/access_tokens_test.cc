#include "supervisor/callers/access_tokens.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/issuer.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

using testing::IssuerKey;
using testing::JwkSet;
using RefusalKind = AccessRefusal::Kind;
using std::chrono::seconds;

constexpr std::chrono::sys_seconds kNow{seconds(1'800'000'000)};

class AccessTokensTest : public ::testing::Test {
 protected:
  AccessTokensTest() {
    policy_ = {.issuer = "https://issuer.example",
               .audience = "https://agents.example/mcp",
               .resource = "https://agents.example/mcp",
               .jwks = (directory_.path() / "keys.json").string(),
               .subjects = {{"7c9e", "ann"}, {"other", "bob"}}};
    Publish({key_.Jwk()});
  }
  void Publish(std::initializer_list<std::string> keys) {
    testing::WriteText(policy_.jwks, JwkSet(keys));
    chmod(policy_.jwks.c_str(), 0644);
  }
  static std::string Number(seconds since_now) {
    return std::to_string((kNow + since_now).time_since_epoch().count());
  }
  // Claims of a good token, with these in place of its own or in addition.
  static std::string Claims(const std::string& more = "", const std::string& without = "none") {
    std::string all = "{" + more;
    for (const std::string& claim :
         {std::string(R"("iss": "https://issuer.example")"), std::string(R"("sub": "7c9e")"),
          std::string(R"("aud": "https://agents.example/mcp")"),
          "\"exp\": " + Number(seconds(60))}) {
      if (claim.starts_with("\"" + without + "\"")) continue;
      all += (all.size() > 1 ? ", " : "") + claim;
    }
    return all + "}";
  }
  std::string Why(const std::string& token) {
    const auto access = tokens_.Judge(token, policy_, kNow);
    return access ? "" : access.error().why;
  }
  std::string WhyClaims(const std::string& more, const std::string& without = "none") {
    return Why(key_.Token(Claims(more, without)));
  }

  testing::TempDir directory_;
  IssuerKey key_{"one"};
  policy::OAuthPolicy policy_;
  AccessTokens tokens_{ServedUser("ann")};
};

TEST_F(AccessTokensTest, OfTheIssuerForThisServerAndUser) {
  const auto access = tokens_.Judge(key_.Token(Claims()), policy_, kNow);
  ASSERT_TRUE(access) << access.error().why;
  EXPECT_EQ(access->claims->subject, "7c9e");
  EXPECT_EQ(access->claims->issuer, "https://issuer.example");
  EXPECT_EQ(WhyClaims(R"("aud": ["x", "https://agents.example/mcp"])", "aud"), "");
  policy_.subjects["7c9e"] = std::to_string(geteuid());
  EXPECT_EQ(WhyClaims(""), "");
}

TEST_F(AccessTokensTest, OtherIssuersAudiencesAndSubjectsAreNot) {
  for (const char* issuer : {"https://issuer.example/", "https://Issuer.example", "x"}) {
    EXPECT_NE(WhyClaims(R"("iss": ")" + std::string(issuer) + "\"", "iss").find("its issuer (iss)"),
              std::string::npos);
  }
  for (const char* audience : {R"([])", R"("x")", R"(["x", "https://agents.example/mcp/"])",
                               R"("https://agents.example")"}) {
    EXPECT_NE(WhyClaims(R"("aud": )" + std::string(audience), "aud").find("not for http.audience"),
              std::string::npos)
        << audience;
  }
  EXPECT_EQ(WhyClaims(R"("sub": "7C9E")", "sub"), "its subject (sub) is none of http.subjects");
  EXPECT_EQ(WhyClaims(R"("sub": "ann")", "sub"), "its subject (sub) is none of http.subjects");
  EXPECT_EQ(WhyClaims(R"("sub": "other")", "sub"),
            "the subject 'other' is the user 'bob', and this server serves the user 'ann'");
}

TEST_F(AccessTokensTest, ClocksMayDifferByAMinute) {
  const auto expires = [&](int at) { return WhyClaims("\"exp\": " + Number(seconds(at)), "exp"); };
  EXPECT_EQ(expires(-59), "");
  EXPECT_EQ(expires(-60), "it has expired");
  EXPECT_EQ(expires(-86400), "it has expired");
  for (const char* claim : {"nbf", "iat"}) {
    const auto since = [&](int at) {
      return WhyClaims("\"" + std::string(claim) + "\": " + Number(seconds(at)));
    };
    EXPECT_EQ(since(-86400), "") << claim;
    EXPECT_EQ(since(60), "") << claim;
    EXPECT_NE(since(61), "") << claim;
  }
}

TEST_F(AccessTokensTest, ScopesAreNeededIfThePolicyNamesThem) {
  policy_.scopes = {"use", "more"};
  for (const char* enough : {R"("scope": "use more")", R"("scope": "x more use")",
                             R"("scp": ["use", "more"])", R"("scope": "use", "scp": "more")"}) {
    EXPECT_EQ(WhyClaims(enough), "") << enough;
  }
  for (const char* less : {"", R"("scope": "")", R"("scope": "use")", R"("scope": "used more")",
                           R"("scope": "use,more")", R"("scp": ["MORE", "use"])"}) {
    const auto access = tokens_.Judge(key_.Token(Claims(less)), policy_, kNow);
    ASSERT_FALSE(access) << less;
    EXPECT_EQ(access.error().kind, RefusalKind::kScope) << less;
  }
  // Who is not known learns nothing of scopes.
  const auto access = tokens_.Judge(key_.Token(Claims(R"("sub": "x")", "sub")), policy_, kNow);
  ASSERT_FALSE(access);
  EXPECT_EQ(access.error().kind, RefusalKind::kNotValid);
}

// RFC 8725, 2.1 and 3.1: neither the header nor a key that it brings says how it is verified.
TEST_F(AccessTokensTest, TheKeySaysHowATokenIsVerified) {
  const auto with = [&](const std::string& header) { return Why(key_.Token(Claims(), header)); };
  EXPECT_EQ(with(R"({"alg": "ES256", "kid": "one"})"), "");
  EXPECT_EQ(with(R"({"alg": "ES256"})"), "") << "one key fits";
  for (const char* algorithm :
       {"none", "None", "HS256", "RS256", "PS256", "ES384", "es256", "ES256 "}) {
    EXPECT_NE(with(R"({"kid": "one", "alg": ")" + std::string(algorithm) + "\"}"), "") << algorithm;
    EXPECT_NE(with(R"({"alg": ")" + std::string(algorithm) + "\"}"), "") << algorithm;
  }
  EXPECT_NE(with(R"({"alg": "ES256", "kid": "one", "crit": ["exp"]})"), "");
  // Signed by the key that the header brings along, or says where to find.
  const IssuerKey thief("thief");
  EXPECT_EQ(
      Why(thief.Token(Claims(), R"({"alg": "ES256", "kid": "one", "jwk": )" + thief.Jwk() + "}")),
      "the key 'one' has not signed it");
  EXPECT_EQ(
      Why(thief.Token(Claims(), R"({"alg": "ES256", "kid": "one", "jku": "https://t.example"})")),
      "the key 'one' has not signed it");
  EXPECT_NE(Why(thief.Token(Claims())), "");
}

TEST_F(AccessTokensTest, WhatWasChangedIsNotSigned) {
  const std::string good = key_.Token(Claims());
  const std::string other = key_.Token(Claims(R"("sub": "other")", "sub"));
  EXPECT_EQ(Why(good), "");
  const auto part = [](const std::string& token, int which) {
    const std::size_t first = token.find('.');
    const std::size_t last = token.rfind('.');
    if (which == 0) return token.substr(0, first);
    return which == 1 ? token.substr(first + 1, last - first - 1) : token.substr(last + 1);
  };
  EXPECT_EQ(Why(part(good, 0) + "." + part(good, 1) + "." + part(other, 2)),
            "the key 'one' has not signed it");
  EXPECT_NE(Why(part(good, 0) + "." + part(good, 1) + "."), "");
  EXPECT_NE(Why(part(good, 0) + "." + part(good, 1) + ".AAAA"), "");
  EXPECT_NE(Why(""), "");
}

TEST_F(AccessTokensTest, AKeyThatIsNotThereIsTold) {
  const IssuerKey two("two");
  EXPECT_EQ(Why(two.Token(Claims())),
            policy_.jwks +
                " does not hold the key 'two' (kid); if the issuer has a new key, fetch "
                "the file again: with the packaged timer, systemctl start "
                "project-actions-jwks@NAME.service");
  Publish({key_.Jwk(), two.Jwk()});
  EXPECT_EQ(Why(two.Token(Claims())), "");
  EXPECT_EQ(Why(key_.Token(Claims(), R"({"alg": "ES256"})")),
            "it names no key (kid), and " + policy_.jwks +
                " has not exactly one for the algorithm 'ES256'");
  Publish({key_.Jwk(), key_.Jwk()});
  EXPECT_NE(Why(key_.Token(Claims())), "") << "two keys of one name";
  // Text of the client's, on one line and not endless.
  const std::string odd = Why(key_.Token(Claims(), R"({"alg": "ES256", "kid": "\n\u001b[2J"})"));
  EXPECT_NE(odd.find(R"('\n\u{1b}[2J')"), std::string::npos) << odd;
}

TEST_F(AccessTokensTest, WithoutKeysNobodyCanTell) {
  testing::WriteText(policy_.jwks, "{}");
  const auto access = tokens_.Judge(key_.Token(Claims()), policy_, kNow);
  ASSERT_FALSE(access);
  EXPECT_EQ(access.error().kind, RefusalKind::kNoKeys);
  EXPECT_NE(tokens_.WhyNobody(policy_), "");
  Publish({key_.Jwk()});
  EXPECT_EQ(tokens_.WhyNobody(policy_), "");
  policy_.subjects = {{"other", "bob"}};
  EXPECT_EQ(tokens_.WhyNobody(policy_),
            "none of http.subjects is a user whom this server serves, which is the user 'ann'");
}

TEST_F(AccessTokensTest, IsJudgedAgainWithoutTheToken) {
  const auto access = tokens_.Judge(key_.Token(Claims()), policy_, kNow);
  ASSERT_TRUE(access);
  const auto again = [&] { return tokens_.JudgeAgain(*access, policy_, kNow); };
  EXPECT_FALSE(again());
  EXPECT_FALSE(tokens_.JudgeAgain(*access, policy_, kNow + seconds(119)));
  EXPECT_TRUE(tokens_.JudgeAgain(*access, policy_, kNow + seconds(120)));
  Publish({IssuerKey("two").Jwk()});
  EXPECT_TRUE(again()) << "its key was withdrawn";
  Publish({key_.Jwk(), IssuerKey("two").Jwk()});
  EXPECT_FALSE(again());
  testing::WriteText(policy_.jwks, "{}");
  EXPECT_TRUE(again());
  Publish({key_.Jwk()});
  for (const auto& change : std::initializer_list<void (*)(policy::OAuthPolicy&)>{
           [](policy::OAuthPolicy& p) { p.issuer = "x"; },
           [](policy::OAuthPolicy& p) { p.audience = "x"; },
           [](policy::OAuthPolicy& p) { p.subjects.erase("7c9e"); },
           [](policy::OAuthPolicy& p) { p.scopes = {"x"}; }}) {
    policy::OAuthPolicy other = policy_;
    change(other);
    EXPECT_TRUE(tokens_.JudgeAgain(*access, other, kNow));
  }
  EXPECT_FALSE(again());
}

}  // namespace
}  // namespace pa
