#include "supervisor/transport/listen_address.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

using Kind = ListenAddress::Kind;

TEST(ListenAddress, EachForm) {
  EXPECT_EQ(ParseListenAddress("stdio"), ListenAddress{});
  EXPECT_EQ(ParseListenAddress("systemd"), (ListenAddress{.kind = Kind::kSystemd}));
  EXPECT_EQ(ParseListenAddress("unix:/run/x.sock"),
            (ListenAddress{.kind = Kind::kUnix, .path = "/run/x.sock"}));
  EXPECT_EQ(ParseListenAddress("http://127.0.0.1:8080"),
            (ListenAddress{.kind = Kind::kTcp, .host = "127.0.0.1", .port = 8080}));
  EXPECT_EQ(ParseListenAddress("http://localhost:0/"),
            (ListenAddress{.kind = Kind::kTcp, .host = "localhost", .port = 0}));
  EXPECT_EQ(ParseListenAddress("http://[::1]:65535"),
            (ListenAddress{.kind = Kind::kTcp, .host = "::1", .port = 65535}));
}

TEST(ListenAddress, WhatIsNoneIsToldWhatWasExpected) {
  constexpr struct {
    std::string_view text, expected;
  } kWrong[] = {
      {"", "an address is stdio, unix:PATH"},
      {"/run/x.sock", "an address is stdio, unix:PATH"},
      {"tcp://127.0.0.1:80", "an address is stdio, unix:PATH"},
      {"STDIO", "an address is stdio, unix:PATH"},
      {"unix:", "unix: has a path behind it"},
      {std::string_view("unix:a\0b", 8), "zero byte"},
      {"http://127.0.0.1", "http://HOST:PORT"},
      {"http://127.0.0.1:80/mcp", "the path is always /mcp"},
      {"http://:80", "HOST must be"},
      {"http://::1:80", "in brackets"},
      {"http://[127.0.0.1]:80", "in brackets"},
      {"http://example.org:80", "HOST must be"},
      {"http://127.0.0.1:", "PORT must be"},
      {"http://127.0.0.1:65536", "PORT must be"},
      {"http://127.0.0.1:-1", "PORT must be"},
      {"http://127.0.0.1:8o", "PORT must be"},
      {"https://127.0.0.1:443", "a proxy speaks in front of the server"},
  };
  for (const auto& [text, expected] : kWrong) {
    const auto address = ParseListenAddress(text);
    ASSERT_FALSE(address) << text;
    EXPECT_NE(address.error().find(expected), std::string::npos) << address.error();
  }
}

TEST(ListenAddress, APathOfASocketHasItsLimit) {
  const std::string longest(107, 'a');
  EXPECT_TRUE(ParseListenAddress("unix:" + longest));
  EXPECT_FALSE(ParseListenAddress("unix:" + longest + "a"));
}

TEST(ListenAddress, HostAndPort) {
  EXPECT_EQ(HostAndPortText("127.0.0.1", 80), "127.0.0.1:80");
  EXPECT_EQ(HostAndPortText("::1", 80), "[::1]:80");
  for (const char* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1"}) {
    EXPECT_TRUE(IsLoopbackAddress(host)) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "1270.0.0.1"}) {
    EXPECT_FALSE(IsLoopbackAddress(host)) << host;
  }
}

// A name that leads here is that of somebody's page, unless it is one of ours.
TEST(ListenAddress, TheHostOfARequest) {
  const auto at = [](const char* host) {
    return ListenAddress{.kind = ListenAddress::Kind::kTcp, .host = host, .port = 8080};
  };
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"}) {
    EXPECT_TRUE(IsHostOf(at("127.0.0.1"), host)) << host;
    EXPECT_FALSE(IsHostOf({.kind = ListenAddress::Kind::kUnix, .path = "/s"}, host)) << host;
  }
  for (const char* host : {"evil.example:8080", "127.0.0.1:81", "127.0.0.1", "", "10.0.0.1:8080"}) {
    EXPECT_FALSE(IsHostOf(at("127.0.0.1"), host)) << host;
  }
  EXPECT_TRUE(IsHostOf(at("10.0.0.1"), "10.0.0.1:8080"));
  for (const char* host : {"localhost:8080", "10.0.0.2:8080", "10.0.0.1:80"}) {
    EXPECT_FALSE(IsHostOf(at("10.0.0.1"), host)) << host;
  }
  for (const char* everywhere : {"0.0.0.0", "::"}) {
    for (const char* host : {"10.0.0.1:8080", "[fe80::1]:8080", "localhost:8080"}) {
      EXPECT_TRUE(IsHostOf(at(everywhere), host)) << host;
    }
    for (const char* host : {"evil.example:8080", "10.0.0.1:80", "10.0.0.1.evil.example:8080"}) {
      EXPECT_FALSE(IsHostOf(at(everywhere), host)) << host;
    }
  }
}

}  // namespace
}  // namespace pa
