#include "policy/http_policy.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace pa::policy {
namespace {

class HttpPolicyTest : public ::testing::Test {
 protected:
  auto Load(const std::string& text) const {
    testing::WriteText(path_, text);
    return LoadHttpPolicy(path_);
  }
  testing::TempDir directory_;
  std::string path_ = directory_.path() / "policy.yaml";
};

TEST_F(HttpPolicyTest, OnlyTheClientsOfHttp) {
  const auto http = Load(
      "version: 1\nroots: [~/src, \"${PLACE}/x\"]\ntools: {enable: [make]}\n"
      "http: {public_url: https://Agents.example/mcp, origins: [https://App.example],\n"
      "  issuer: https://issuer.example, jwks: /k.json, subjects: {7c: ann}}\n");
  ASSERT_TRUE(http) << http.error().front().Format();
  EXPECT_EQ(http->public_host, "agents.example");
  EXPECT_EQ(http->origins, std::vector<std::string>{"https://app.example"});
  EXPECT_EQ(http->oauth.jwks, "/k.json");
  EXPECT_EQ(http->oauth.subjects.at("7c"), "ann");
}

TEST_F(HttpPolicyTest, WithoutAFileThereAreTheDefaults) {
  const auto http = LoadHttpPolicy(path_);
  ASSERT_TRUE(http);
  EXPECT_EQ(http->public_host, "");
  EXPECT_FALSE(http->oauth.IsOn());
}

TEST_F(HttpPolicyTest, AFileThatIsWrongIsNoDefault) {
  for (const char* wrong :
       {"version: 2\n", "version: 1\nhtp: {}\n", "version: 1\nhttp: {issuer: https://i.example}\n",
        "version: 1\nhttp: {public_url: https://a.example/mcp, issuer: https://i.example,\n"
        "  jwks: ~/keys.json, subjects: {a: b}}\n",
        "not: [yaml"}) {
    EXPECT_FALSE(Load(wrong)) << wrong;
  }
  EXPECT_FALSE(LoadHttpPolicy(directory_.path())) << "a directory";
}

}  // namespace
}  // namespace pa::policy
