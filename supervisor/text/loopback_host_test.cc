#include "supervisor/text/loopback_host.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(LoopbackHost, IsThisMachineAtThisPort) {
  for (const char* host :
       {"localhost:41234", "LocalHost:41234", "127.0.0.1:41234", "[::1]:41234"}) {
    EXPECT_TRUE(IsLoopbackHost(host, 41234)) << host;
  }
  EXPECT_TRUE(IsLoopbackHost("localhost", 80));
  EXPECT_TRUE(IsLoopbackHost("127.0.0.1:80", 80));
}

TEST(LoopbackHost, NothingElseIs) {
  for (const char* host : {"evil.example:41234", "localhost", "127.0.0.1", "localhost:4123",
                           "localhost:412345", "localhost:41234.evil.example", "", ":41234",
                           "evil.example@localhost:41234", "127.0.0.2:41234", "localhost.:41234",
                           "localhost:41234, evil.example", "xlocalhost:41234", "::1:41234"}) {
    EXPECT_FALSE(IsLoopbackHost(host, 41234)) << host;
  }
  EXPECT_FALSE(IsLoopbackHost("evil.example", 80));
}

}  // namespace
}  // namespace pa
