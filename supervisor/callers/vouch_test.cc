#include "supervisor/callers/vouch.h"

#include <gtest/gtest.h>

#include <string>

#include "base/digest.h"
#include "tests/support/issuer.h"

namespace pa {
namespace {

// The front door writes it; what a front door in an attacker's hands could write is read, too.
TEST(Vouch, NothingElseIsRead) {
  const std::string key = Hex(Sha256Of("key"));
  const auto claims = [](const std::string& text) { return testing::ToBase64Url(text); };
  const std::string right = claims(R"({"iss": "i", "sub": "s", "aud": "a", "exp": 1})");
  HttpPeer peer;
  ASSERT_EQ(ReadVouch("v1 access " + key + " " + right, peer), VouchKind::kKnown);
  EXPECT_EQ(peer.token, "s");
  EXPECT_EQ(peer.Issuer(), "i");
  EXPECT_EQ(peer.key, key);
  EXPECT_EQ(peer.token_hash, "");
  peer = {};
  ASSERT_EQ(ReadVouch("v1 token " + key, peer), VouchKind::kKnown);
  EXPECT_EQ(peer.token_hash, key);

  for (const std::string& wrong :
       {std::string(), "token " + key + " ", "token " + key.substr(1), "Token " + key, key,
        "token  " + key, "access " + right, "access " + key, "access " + key + " ",
        "access  " + key + " " + right, "access " + key + "  " + right,
        "access " + key + " " + right + " ", "access " + key + " " + claims(R"({"iss": "i"})"),
        "access " + key + " " + claims("[]"), "access " + key + " " + std::string(9000, 'e')}) {
    HttpPeer nobody;
    EXPECT_EQ(ReadVouch("v1 " + wrong, nobody), VouchKind::kNone) << wrong;
    EXPECT_EQ(ReadVouch(wrong, nobody), VouchKind::kNone) << wrong;
    EXPECT_EQ(ReadVouch("v2 " + wrong, nobody), VouchKind::kOtherVersion) << wrong;
    EXPECT_EQ(nobody.token + nobody.token_hash + nobody.key, "") << wrong;
    EXPECT_FALSE(nobody.claims) << wrong;
  }
  HttpPeer nobody;
  for (const char* version : {"v2", "v10 token", "v0 "}) {
    EXPECT_EQ(ReadVouch(version, nobody), VouchKind::kOtherVersion) << version;
  }
  for (const char* wrong : {"v1", "v1 ", "v", "v token", "v1x token", "V2 token", " v2"}) {
    EXPECT_EQ(ReadVouch(wrong, nobody), VouchKind::kNone) << wrong;
  }
}

}  // namespace
}  // namespace pa
