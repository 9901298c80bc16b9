#include "supervisor/text/jwk_set.h"

#include <gtest/gtest.h>

#include "supervisor/text/jwt.h"
#include "tests/support/issuer.h"

namespace pa {
namespace {

using testing::IssuerKey;
using testing::JwkSet;

constexpr std::string_view kRfc7515 =
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4"
    "d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5re"
    "xMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxX"
    "FvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";

std::string Rsa(const std::string& more = "", std::string_view n = kRfc7515) {
  return R"({"kty": "RSA", "e": "AQAB", "n": ")" + std::string(n) + "\"" + more + "}";
}
std::string Curve(const std::string& more = "") { return IssuerKey("c").Jwk(more); }

Result<std::vector<Jwk>> Read(const std::string& text) { return ReadJwkSet(text, "/etc/keys"); }

// The algorithms of the keys of a set, with one that can be used beside it.
std::string Algorithms(const std::string& key) {
  const auto keys = Read(JwkSet({key, IssuerKey("other").Jwk()}));
  if (!keys) return keys.error().Message();
  std::string all;
  for (const Jwk& one : *keys) all += one.id == "other" ? "" : one.algorithm;
  return all;
}

TEST(JwkSet, AKeyHasOneAlgorithm) {
  EXPECT_EQ(Algorithms(Rsa()), "RS256");
  EXPECT_EQ(Algorithms(Curve()), "ES256");
  EXPECT_EQ(
      Algorithms(Rsa(R"(, "alg": "RS256", "use": "sig", "x5c": ["x"], "key_ops": ["verify"])")),
      "RS256");
  EXPECT_EQ(Algorithms(Rsa(R"(, "alg": "PS256")")), "PS256");
  EXPECT_EQ(Algorithms(Curve(R"(, "alg": "ES256")")), "ES256");
}

TEST(JwkSet, OtherKeysArePassedOver) {
  const std::string weak =
      "ubqPJ57sHLm_7FVlMw_ND1vxXOXG749zNA4vHLNisZgnwa7Tx6-l_VMYBs3n_6qFVVd6wQQmQKuvOF0xnhj0Z4AJip"
      "zoXFDcR7oObIIh7HHxA_GayBfdJWKPBIxxITWZSS77UHpqGQQgUW0h7IF7zPhc9jowshB0ve-p4pACTOM";
  for (const std::string& key :
       {Rsa(R"(, "use": "enc")"), Rsa(R"(, "use": null)"), Rsa(R"(, "key_ops": ["encrypt"])"),
        Rsa(R"(, "key_ops": "verify")"), Rsa(R"(, "alg": "RS512")"), Rsa(R"(, "alg": "HS256")"),
        Rsa(R"(, "alg": "none")"), Rsa(R"(, "alg": "ES256")"), Rsa(R"(, "alg": null)"),
        Rsa("", weak), Rsa("", ""), Rsa("", "not base64!"), Curve(R"(, "alg": "RS256")"),
        std::string(
            R"({"kty": "oct", "k": "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZ"})"),
        std::string(R"({"kty": "OKP", "crv": "Ed25519", )"
                    R"("x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})"),
        std::string(R"({"kty": "EC", "crv": "P-384", "x": "AA", "y": "AA"})"),
        std::string(R"({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"})"),
        std::string(R"({"kty": "new"})")}) {
    EXPECT_EQ(Algorithms(key), "") << key;
    EXPECT_FALSE(Read(JwkSet({key}))) << key;
  }
}

TEST(JwkSet, WhatIsNoneIsAnError) {
  EXPECT_TRUE(Read(JwkSet({Curve()})));
  for (const std::string& text :
       {std::string(), std::string("x"), std::string("[]"), std::string("{}"), JwkSet({}),
        std::string(R"({"keys": {}})"), JwkSet({Curve(), "1"}), JwkSet({Curve(), "{}"}),
        JwkSet({Curve(), R"({"kty": 1})"}), R"({"keys": [], "keys": [)" + Curve() + "]}",
        JwkSet({Curve()}) + std::string(kMaxJwkSet, ' '), JwkSet({Curve()}).substr(0, 100)}) {
    const auto keys = Read(text);
    ASSERT_FALSE(keys) << text.substr(0, 200);
    EXPECT_NE(keys.error().Message().find("\"/etc/keys\""), std::string::npos);
  }
  std::string many;
  for (std::size_t i = 0; i < kMostJwks; ++i) many += Curve() + ",";
  EXPECT_TRUE(Read(R"({"keys": [)" + many.substr(0, many.size() - 1) + "]}"));
  EXPECT_FALSE(Read(R"({"keys": [)" + many + Curve() + "]}"));
}

TEST(JwkSet, OneKeyAloneIsFound) {
  const auto keys = Read(JwkSet({IssuerKey("a").Jwk(), IssuerKey("b").Jwk(), Rsa()}));
  ASSERT_TRUE(keys);
  ASSERT_NE(FindKey(*keys, "ES256", "b"), nullptr);
  EXPECT_EQ(FindKey(*keys, "ES256", "b")->digest, (*keys)[1].digest);
  EXPECT_NE((*keys)[0].digest, (*keys)[1].digest);
  EXPECT_EQ(FindKey(*keys, "ES256", ""), nullptr) << "two fit";
  EXPECT_NE(FindKey(*keys, "RS256", ""), nullptr) << "one fits";
  EXPECT_EQ(FindKey(*keys, "RS256", "a"), nullptr) << "the key is of another algorithm";
  EXPECT_EQ(FindKey(*keys, "ES256", "c"), nullptr);
  EXPECT_EQ(FindKey(*keys, "none", ""), nullptr);
  EXPECT_EQ(FindKey(*keys, "HS256", ""), nullptr);
  const auto twice = Read(JwkSet({IssuerKey("a").Jwk(), IssuerKey("a").Jwk()}));
  EXPECT_EQ(FindKey(*twice, "ES256", "a"), nullptr) << "which one is meant?";
}

// What the tests' issuer makes is what this reads; RFC 7515, A.2 is in base/public_key_test.cc.
TEST(JwkSet, VerifiesATokenOfItsIssuer) {
  const auto keys = Read(JwkSet({IssuerKey("a").Jwk(), IssuerKey("b").Jwk()}));
  const std::string token =
      IssuerKey("a").Token(R"({"iss": "i", "sub": "s", "aud": "a", "exp": 1})");
  const auto jwt = ReadJwt(token);
  ASSERT_TRUE(jwt);
  const auto verifies = [&](const char* id) {
    const Jwk& key = *FindKey(*keys, jwt->algorithm, id);
    return key.key.Verifies(key.scheme, jwt->signed_part, jwt->signature);
  };
  EXPECT_TRUE(verifies("a"));
  EXPECT_FALSE(verifies("b"));
}

}  // namespace
}  // namespace pa
