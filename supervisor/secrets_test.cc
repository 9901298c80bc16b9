#include "supervisor/secrets.h"

#include <gtest/gtest.h>

#include <random>

namespace pa {
namespace {

TEST(Secrets, ByWhatStandsBeforeThem) {
  EXPECT_EQ(MaskSecrets("curl -H 'Authorization: Bearer abc.def' https://x"),
            "curl -H 'Authorization: Bearer ***' https://x");
  EXPECT_EQ(MaskSecrets("DB_PASSWORD=hunter2 make"), "DB_PASSWORD=*** make");
  EXPECT_EQ(MaskSecrets("tool --token abc --name x"), "tool --token *** --name x");
  EXPECT_EQ(MaskSecrets(R"({"api_key": "abc", "x": 1})"), R"({"api_key": "***", "x": 1})");
  EXPECT_EQ(MaskSecrets("apikey=abc&x=1"), "apikey=***&x=1");
  EXPECT_EQ(MaskSecrets("git clone https://ann:hunter2@example.org/x.git"),
            "git clone https://ann:***@example.org/x.git");
}

TEST(Secrets, ByTheirMarks) {
  EXPECT_EQ(MaskSecrets("see ghp_0123456789abcdefghij0123456789abcdef, please"), "see ***, please");
  EXPECT_EQ(MaskSecrets("AKIAIOSFODNN7EXAMPLE"), "***");
  EXPECT_EQ(MaskSecrets(
                "a -----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY----- b"),
            "a *** b");
  EXPECT_EQ(MaskSecrets("-----BEGIN RSA PRIVATE KEY-----\ncut off"), "***");
}

// One of each issuer; written apart, so that a linter of somebody else does not find them here.
TEST(Secrets, EachIssuersMark) {
  const std::string body = "0123456789abcdefABCDEF0123456789abcdefABCDEF";
  for (const char* mark : {"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-",
                           "xoxp-", "xoxa-", "sk-", "sk_live_", "AKIA", "ASIA", "AIza", "eyJ"}) {
    EXPECT_EQ(MaskSecrets("see " + (mark + body) + " there"), "see *** there") << mark;
    EXPECT_EQ(MaskSecrets("see " + std::string(mark) + " there"),
              "see " + std::string(mark) + " there");
  }
}

TEST(Secrets, NamesThatStandApart) {
  for (const char* name : {"password", "DB_PASSWORD", "--api-key", "apiKey", "-token", "SECRET"}) {
    EXPECT_TRUE(NamesSecret(name)) << name;
  }
  for (const char* name : {"", "tokens", "password_file", "target", "--", "passwor"}) {
    EXPECT_FALSE(NamesSecret(name)) << name;
  }
}

TEST(Secrets, WhatIsNoneStays) {
  for (const char* text :
       {"", "fix the token parser", "rename password field", "https://example.org:8080/x?y=z",
        "sk-ip tests", "docs: explain tokens", "mailto:ann@example.org", "a secret plan",
        "-----BEGIN CERTIFICATE-----"}) {
    EXPECT_EQ(MaskSecrets(text), text);
  }
}

// Whatever comes: it ends, and never becomes much longer.
TEST(Secrets, HoldsAgainstAnything) {
  std::mt19937 random(20261122);
  const std::string alphabet = "password=:-_ \"'sk-AKIA://@\n\xff";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (auto i = random() % 60; i > 0; --i) text += alphabet[random() % alphabet.size()];
    EXPECT_LE(MaskSecrets(text).size(), text.size() * 3);
  }
}

}  // namespace
}  // namespace pa
