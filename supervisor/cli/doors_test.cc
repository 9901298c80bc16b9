#include "supervisor/cli/doors.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

std::vector<ListeningSocket> At(const std::string& host, std::uint16_t port) {
  std::vector<ListeningSocket> sockets;
  sockets.push_back({.fd = {}, .address = {.kind = ListenAddress::Kind::kUnix, .path = "/s"}});
  sockets.push_back(
      {.fd = {}, .address = {.kind = ListenAddress::Kind::kTcp, .host = host, .port = port}});
  return sockets;
}

// A name that leads here is that of somebody's page, unless it is one of ours.
TEST(IsHostOf, TheAddressOfASocket) {
  const auto loopback = At("127.0.0.1", 8080);
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"}) {
    EXPECT_TRUE(IsHostOf(loopback, host)) << host;
  }
  for (const char* host : {"evil.example:8080", "127.0.0.1:81", "127.0.0.1", "", "10.0.0.1:8080"}) {
    EXPECT_FALSE(IsHostOf(loopback, host)) << host;
  }
  const auto one = At("10.0.0.1", 8080);
  EXPECT_TRUE(IsHostOf(one, "10.0.0.1:8080"));
  for (const char* host : {"localhost:8080", "10.0.0.2:8080", "10.0.0.1:80"}) {
    EXPECT_FALSE(IsHostOf(one, host)) << host;
  }
  for (const char* wildcard : {"0.0.0.0", "::"}) {
    const auto everywhere = At(wildcard, 8080);
    for (const char* host : {"10.0.0.1:8080", "[fe80::1]:8080", "localhost:8080"}) {
      EXPECT_TRUE(IsHostOf(everywhere, host)) << host;
    }
    for (const char* host : {"evil.example:8080", "10.0.0.1:80", "10.0.0.1.evil.example:8080"}) {
      EXPECT_FALSE(IsHostOf(everywhere, host)) << host;
    }
  }
  EXPECT_FALSE(IsHostOf({}, "localhost:8080"));
}

}  // namespace
}  // namespace pa
