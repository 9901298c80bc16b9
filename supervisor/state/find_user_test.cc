#include "supervisor/state/find_user.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace pa {
namespace {

TEST(FindUser, ByNameOrNumber) {
  EXPECT_EQ(FindUser("root").value_or(1), 0u);
  EXPECT_EQ(FindUser("1234567").value_or(0), 1234567u);
  EXPECT_EQ(DescribeUser("root")->home, "/root");
  EXPECT_EQ(DescribeUser("0")->name, "root");
  EXPECT_FALSE(DescribeUser("4294967294"));
  for (const char* none : {"", "no such user", "-1", "12x", "4294967296"}) {
    const Result<uid_t> found = FindUser(none);
    ASSERT_FALSE(found) << none;
    EXPECT_EQ(found.error().sys_errno, ESRCH) << none;
  }
}

}  // namespace
}  // namespace pa
