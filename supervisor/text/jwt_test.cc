#include "supervisor/text/jwt.h"

#include <gtest/gtest.h>

#include <string>

#include "base/base64.h"
#include "tests/support/issuer.h"

namespace pa {
namespace {

using testing::ToBase64Url;

constexpr std::string_view kHeader = R"({"alg": "ES256"})";
constexpr std::string_view kClaims =
    R"({"iss": "https://i.example", "sub": "s", "aud": "a", "exp": 100})";

std::string Make(std::string_view header, std::string_view claims = kClaims,
                 std::string_view signature = "signature") {
  return ToBase64Url(header) + "." + ToBase64Url(claims) + "." + ToBase64Url(signature);
}

// What is wrong with it, or "".
std::string Wrong(const std::string& token) {
  const auto jwt = ReadJwt(token);
  return std::string(jwt ? "" : jwt.error());
}

// `{claims, more}` without the member that `more` replaces.
std::string With(const std::string& member) {
  const std::string name = member.substr(0, member.find(':'));
  std::string claims = "{" + member;
  for (const char* usual :
       {R"("iss": "https://i.example")", R"("sub": "s")", R"("aud": "a")", R"("exp": 100)"}) {
    if (!std::string_view(usual).starts_with(name)) claims += std::string(", ") + usual;
  }
  return claims + "}";
}

std::chrono::sys_seconds At(int seconds) {
  return std::chrono::sys_seconds(std::chrono::seconds(seconds));
}

TEST(Jwt, SaysWhatItIs) {
  const std::string token =
      Make(R"({"alg": "ES256", "kid": "k", "typ": "at+jwt", "jwk": {}, "x5c": ["a"], "x5t": "b"})",
           R"({"iss": "https://i.example", "sub": "s", "aud": ["a", "b"], "exp": 100, "nbf": 90.5,
          "iat": -0.5, "scope": "one  two", "other": {"a": [null, true]}})");
  const auto jwt = ReadJwt(token);
  ASSERT_TRUE(jwt) << jwt.error();
  EXPECT_EQ(jwt->algorithm, "ES256");
  EXPECT_EQ(jwt->key_id, "k");
  EXPECT_EQ(jwt->signature, "signature");
  EXPECT_EQ(jwt->signed_part, token.substr(0, token.rfind('.')));
  EXPECT_EQ(jwt->claims, (JwtClaims{.issuer = "https://i.example",
                                    .subject = "s",
                                    .audience = {"a", "b"},
                                    .scopes = {"one", "two"},
                                    .expires = At(100),
                                    .not_before = At(90),
                                    .issued = At(-1)}));
  // RFC 7519, 3.1 has no subject and no audience: it is no access token.
  EXPECT_EQ(
      Wrong("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTk"
            "zODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJ"
            "U1p1r_wW1gFWFOEjXk"),
      "it has no subject (sub), or one that is too long");
}

TEST(Jwt, HasThreePartsOfBase64) {
  const std::string good = Make(kHeader);
  EXPECT_EQ(Wrong(good), "");
  for (const std::string& bad : {std::string(),
                                 std::string("."),
                                 std::string(".."),
                                 std::string("..."),
                                 good + ".",
                                 good + ".x",
                                 "." + good,
                                 good.substr(0, good.rfind('.')),
                                 good + "=",
                                 good + " ",
                                 " " + good,
                                 good.substr(0, good.rfind('.') + 1),
                                 "\n" + good,
                                 good + "x",
                                 Make("{}"),
                                 Make("[]"),
                                 Make("1"),
                                 Make(""),
                                 Make("{\"alg\": \"ES256\""),
                                 Make(kHeader, "[]"),
                                 Make(kHeader, ""),
                                 Make(kHeader, std::string(kClaims) + "x"),
                                 Make(kHeader, kClaims, ""),
                                 std::string("{\"alg\":\"ES256\"}.{}.x"),
                                 std::string(kMaxJwt, 'a'),
                                 std::string(99, '.')}) {
    EXPECT_NE(Wrong(bad), "") << bad;
  }
  for (std::size_t size = 0; size < good.rfind('.') + 2; ++size) {
    EXPECT_NE(Wrong(good.substr(0, size)), "") << size;
  }
  const std::string most = With(R"("x": ")" + std::string(5000, 'y') + "\"");
  EXPECT_EQ(Wrong(Make(kHeader, most)), "");
  const std::string more = With(R"("x": ")" + std::string(6200, 'y') + "\"");
  EXPECT_EQ(Wrong(Make(kHeader, more)), "it is too long");
}

// Of two members of one name a reader sees the first, another the last.
TEST(Jwt, NothingIsThereTwice) {
  EXPECT_NE(Wrong(Make(R"({"alg": "none", "alg": "ES256"})")), "");
  EXPECT_NE(Wrong(Make(kHeader, R"({"sub": "t", "iss": "https://i.example", "sub": "s", "aud": "a",
                                    "exp": 100})")),
            "");
}

TEST(Jwt, TheHeaderIsOfAnAccessToken) {
  for (const char* type : {"JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt",
                           "application/jwt", "Application/AT+jwt"}) {
    EXPECT_EQ(Wrong(Make(R"({"alg": "ES256", "typ": ")" + std::string(type) + "\"}")), "") << type;
  }
  for (const char* type : {R"("dpop+jwt")", R"("")", "1", "null", R"("secevent+jwt")",
                           R"("text/jwt")", R"("logout+jwt")"}) {
    EXPECT_EQ(Wrong(Make(R"({"alg": "ES256", "typ": )" + std::string(type) + "}")),
              "it is a token of another type (typ)")
        << type;
  }
  // Whatever is critical: there is nothing that this reader knows beyond the RFC.
  for (const char* critical : {R"(["b64"])", "[]", R"(["exp"])", "null", R"("b64")"}) {
    EXPECT_EQ(Wrong(Make(R"({"alg": "ES256", "crit": )" + std::string(critical) + "}")),
              "it has critical extensions (crit)")
        << critical;
  }
  for (const char* algorithm : {"null", "1", R"("")", R"(["ES256"])"}) {
    EXPECT_EQ(Wrong(Make(R"({"alg": )" + std::string(algorithm) + "}")),
              "it has no algorithm (alg)");
  }
  for (const std::string& id : {std::string("null"), std::string("1"), std::string(R"("")"),
                                "\"" + std::string(257, 'k') + "\""}) {
    EXPECT_EQ(Wrong(Make(R"({"alg": "ES256", "kid": )" + id + "}")),
              "its key (kid) has no usable name");
  }
}

TEST(Jwt, TheClaimsAreOfTheirTypes) {
  const std::string longest(kMaxJwtSubject, 's');
  for (const std::string& good :
       {std::string(R"("aud": [])"), "\"sub\": \"" + longest + "\"", std::string(R"("exp": 1e3)"),
        std::string(R"("scope": "")"), std::string(R"("scp": ["a", "b"])"),
        std::string(R"("scp": "a b")")}) {
    EXPECT_EQ(Wrong(Make(kHeader, With(good))), "") << good;
  }
  for (const std::string& bad :
       {std::string(R"("iss": null)"), std::string(R"("iss": "")"), std::string(R"("sub": 7)"),
        std::string(R"("sub": "")"), "\"sub\": \"" + longest + "s\"", std::string(R"("aud": 1)"),
        std::string(R"("aud": ["a", 1])"), std::string(R"("aud": null)"),
        std::string(R"("exp": "100")"), std::string(R"("exp": null)"),
        std::string(R"("exp": 1e300)"), std::string(R"("exp": 1e9999)"),
        std::string(R"("exp": 99999999999999999999)"), std::string(R"("nbf": "1")"),
        std::string(R"("iat": true)"), std::string(R"("iat": null)"), std::string(R"("scope": 1)"),
        std::string(R"("scp": [1])"), std::string(R"("scp": null)")}) {
    EXPECT_NE(Wrong(Make(kHeader, With(bad))), "") << bad;
  }
  for (const char* missing :
       {R"({"sub": "s", "aud": "a", "exp": 100})", R"({"iss": "i", "aud": "a", "exp": 100})",
        R"({"iss": "i", "sub": "s", "exp": 100})", R"({"iss": "i", "sub": "s", "aud": "a"})"}) {
    EXPECT_NE(Wrong(Make(kHeader, missing)), "") << missing;
  }
}

}  // namespace
}  // namespace pa
