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

}  // namespace
}  // namespace pa
