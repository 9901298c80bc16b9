#include "supervisor/audit/secrets.h"

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

// Each mark by itself, so that one that is lost or misspelt is noticed; the list is not the
// program's.
TEST(Secrets, EveryMark) {
  constexpr SecretMark kKnown[] = {{"pa_", 64},         {"ghp_", 20},      {"gho_", 20},
                                   {"ghu_", 20},        {"ghs_", 20},      {"ghr_", 20},
                                   {"github_pat_", 20}, {"glpat-", 16},    {"gldt-", 16},
                                   {"glrt-", 16},       {"glcbt-", 16},    {"glptt-", 16},
                                   {"glft-", 16},       {"glsoat-", 16},   {"glimt-", 16},
                                   {"glagent-", 16},    {"GR1348941", 16}, {"xoxb-", 10},
                                   {"xoxp-", 10},       {"xoxa-", 10},     {"xoxr-", 10},
                                   {"xoxs-", 10},       {"xoxe-", 10},     {"xoxe.xox", 10},
                                   {"xapp-", 10},       {"sk-", 20},       {"sk_live_", 16},
                                   {"sk_test_", 16},    {"rk_live_", 16},  {"rk_test_", 16},
                                   {"whsec_", 24},      {"AKIA", 16},      {"ASIA", 16},
                                   {"ABIA", 16},        {"ACCA", 16},      {"AIza", 30},
                                   {"GOCSPX-", 20},     {"ya29.", 20},     {"eyJ", 40},
                                   {"npm_", 36},        {"pypi-", 40},     {"rubygems_", 40},
                                   {"dckr_pat_", 20},   {"dckr_oat_", 20}, {"ATATT3", 40},
                                   {"ATCTT3", 40},      {"ATBB", 28},      {"SG.", 40},
                                   {"shpat_", 32},      {"shpca_", 32},    {"shppa_", 32},
                                   {"shpss_", 32},      {"PMAK-", 40},     {"NRAK-", 27},
                                   {"sntrys_", 40},     {"sntryu_", 40},   {"hf_", 30},
                                   {"api_org_", 30},    {"gsk_", 40},      {"xai-", 40},
                                   {"r8_", 30},         {"nvapi-", 40},    {"pplx-", 40},
                                   {"dop_v1_", 40},     {"doo_v1_", 40},   {"dor_v1_", 40},
                                   {"hvs.", 24},        {"hvb.", 24},      {"hvr.", 24},
                                   {"tskey-", 20},      {"glc_", 32},      {"glsa_", 32},
                                   {"pul-", 40},        {"sbp_", 40},      {"dapi", 32},
                                   {"dt0c01.", 40},     {"pscale_", 20},   {"AGE-SECRET-KEY-1", 40},
                                   {"figd_", 20},       {"lin_api_", 30},  {"ntn_", 40}};
  for (const auto& [prefix, least] : kKnown) {
    const std::string token = std::string(prefix) + std::string(least, 'x');
    EXPECT_EQ(MaskSecrets("echo " + token + " > f"), "echo *** > f");
    EXPECT_EQ(MaskSecrets("'" + token + "'"), "'***'");
    const std::string shorter = token.substr(0, token.size() - 1);
    EXPECT_EQ(MaskSecrets(shorter), shorter) << "a token has more characters";
    EXPECT_EQ(MaskSecrets("z" + token), "z" + token) << "within a word it is no token";
  }
  EXPECT_EQ(SecretMarks().size(), std::size(kKnown)) << "a new one needs its line here";
}

TEST(Secrets, ByTheOptionsOfPrograms) {
  const std::pair<const char*, const char*> kCases[] = {
      {"curl -u ann:hunter2 https://x", "curl -u ann:*** https://x"},
      {"curl -s -uann:hunter2 https://x", "curl -s -uann:*** https://x"},
      {"curl --user 'ann:hunter2' x", "curl --user 'ann:***' x"},
      {"curl --user=ann:hunter2 x", "curl --user=ann:*** x"},
      {"curl -U ann:hunter2 x", "curl -U ann:*** x"},
      {"curl --proxy-user ann:hunter2 x", "curl --proxy-user ann:*** x"},
      {"http -a ann:hunter2 x", "http -a ann:*** x"},
      {"mysql -u root -phunter2 db", "mysql -u root -p*** db"},
      {"/usr/bin/mysqldump -phunter2 db", "/usr/bin/mysqldump -p*** db"},
      {"mariadb -phunter2", "mariadb -p***"},
      {"sshpass -p hunter2 ssh host", "sshpass -p *** ssh host"},
      {"docker login -u ann -p hunter2", "docker login -u ann -p ***"},
      {"redis-cli -a hunter2 ping", "redis-cli -a *** ping"},
      {"mongosh -p hunter2", "mongosh -p ***"},
      {"ldapsearch -w hunter2", "ldapsearch -w ***"},
      {"7z x -phunter2 a.7z", "7z x -p*** a.7z"},
      {"unzip -P hunter2 a.zip", "unzip -P *** a.zip"},
      // with flags in the same word
      {"curl -sSu ann:hunter2 https://x", "curl -sSu ann:*** https://x"},
      {"curl -sSuann:hunter2 https://x", "curl -sSuann:*** https://x"},
      {"curl -kU 'ann:hunter2' x", "curl -kU 'ann:***' x"},
      {"http -va ann:hunter2 x", "http -va ann:*** x"},
      {"mysql -Nphunter2 db", "mysql -Np*** db"},
      {"mariadb -Nphunter2 db", "mariadb -Np*** db"},
      {"sshpass -vp hunter2 ssh host", "sshpass -vp *** ssh host"},
      {"ldapsearch -xw hunter2", "ldapsearch -xw ***"},
      {"zip -r9P hunter2 a.zip b", "zip -r9P *** a.zip b"}};
  for (const auto& [text, masked] : kCases) EXPECT_EQ(MaskSecrets(text), masked);
  for (const char* text :
       {"mkdir -p a/b", "cp -pr a b", "ssh -p 22 host", "curl -u ann https://x", "mysql -p db",
        "curl x; mkdir -p a:b", "docker run -u ann image", "curl --user-agent a:b x",
        "tar -xuf a:b", "grep -nu a:b", "curl -s -o u a:b", "curl -ou a:b", "curl -sou a:b",
        "mysql -Np db", "zip -r9 a.zip b"}) {
    EXPECT_EQ(MaskSecrets(text), text);
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
