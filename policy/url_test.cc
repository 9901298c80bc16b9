#include "policy/url.h"

#include <gtest/gtest.h>

#include <regex>

namespace pa::policy {
namespace {

// The schema says the same.
TEST(Url, GoodAndBad) {
  const std::regex pattern(UrlPattern());
  for (const char* url :
       {"https://agents.example.org", "http://localhost:8080", "https://agents.example.org/mcp",
        "https://a.b:1/c/d%20e", "http://[::1]:8080/", "https://127.0.0.1"}) {
    EXPECT_EQ(CheckUrl(url), "") << url;
    EXPECT_TRUE(std::regex_match(url, pattern)) << url;
  }
  for (const char* url :
       {"agents.example.org", "ftp://a", "https://", "https:///mcp", "https://a b",
        "https://a:", "https://a:0", "https://a:080", "https://u@a", "https://u:p@a",
        "https://a/?q", "https://a/#f", "https://a?q", "HTTPS://a", "https://[::1",
        "https://a:80:80", "https://a/\x01", "https://\xc3\xa9"}) {
    EXPECT_NE(CheckUrl(url), "") << url;
    EXPECT_FALSE(std::regex_match(url, pattern)) << url;
  }
  EXPECT_NE(CheckUrl("https://a:65536"), "");
}

TEST(Url, AnOriginHasNoPath) {
  const std::regex pattern(OriginPattern());
  for (const char* origin : {"https://a", "http://localhost:6274", "http://[::1]:1"}) {
    EXPECT_EQ(CheckOrigin(origin), "") << origin;
    EXPECT_TRUE(std::regex_match(origin, pattern)) << origin;
  }
  for (const char* origin : {"", "null", "*", "https://a/", "https://*.a", "a", "https://a:x"}) {
    EXPECT_NE(CheckOrigin(origin), "") << origin;
    EXPECT_FALSE(std::regex_match(origin, pattern)) << origin;
  }
}

TEST(Url, ItsHost) {
  EXPECT_EQ(HostOfUrl("https://Agents.example.org/mcp"), "agents.example.org");
  EXPECT_EQ(HostOfUrl("http://localhost:8080"), "localhost:8080");
  EXPECT_EQ(HostOfUrl("https://[::1]:8443/x"), "[::1]:8443");
  EXPECT_EQ(HostOfUrl("https://[::1]"), "[::1]");
}

TEST(Url, ItsOriginAndPath) {
  EXPECT_EQ(OriginOfUrl("https://a.example:8443/x/y"), "https://a.example:8443");
  EXPECT_EQ(PathOfUrl("https://a.example:8443/x/y"), "/x/y");
  EXPECT_EQ(OriginOfUrl("http://[::1]"), "http://[::1]");
  EXPECT_EQ(PathOfUrl("http://[::1]"), "");
}

TEST(Url, SafeIsHttpsOrThisMachine) {
  for (const char* url : {"https://a.example", "http://localhost:1/x", "http://127.0.0.1",
                          "http://[::1]:8080/", "http://LOCALHOST"}) {
    EXPECT_TRUE(IsSafeUrl(url)) << url;
  }
  for (const char* url : {"http://a.example", "http://localhost.a.example", "http://127.0.0.2",
                          "http://127.0.0.1.a.example"}) {
    EXPECT_FALSE(IsSafeUrl(url)) << url;
  }
}

}  // namespace
}  // namespace pa::policy
