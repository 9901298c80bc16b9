#include "supervisor/cli/token_command.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

constexpr TokenTime kNow{std::chrono::seconds(1'800'000'000)};  // 2027-01-15

TEST(TokenExpiry, SpansDatesAndNever) {
  using std::chrono::hours;
  EXPECT_EQ(*TokenExpiry("12h", kNow), kNow + hours(12));
  EXPECT_EQ(*TokenExpiry("90d", kNow), kNow + hours(90 * 24));
  EXPECT_EQ(*TokenExpiry("2027-02-01T00:00:00Z", kNow),
            TokenTime(std::chrono::sys_days(std::chrono::year(2027) / 2 / 1)));
  EXPECT_EQ(*TokenExpiry("never", kNow), std::nullopt);
}

TEST(TokenExpiry, WhatIsNoneIsTold) {
  for (const char* text : {"", "soon", "90", "-1d", "0s", "2026-11-28", "Never"}) {
    const auto expiry = TokenExpiry(text, kNow);
    EXPECT_FALSE(expiry) << text;
    EXPECT_FALSE(!expiry && expiry.error().empty()) << text;
  }
  EXPECT_NE(TokenExpiry("2026-11-28", kNow).error().find("has passed"), std::string::npos);
}

}  // namespace
}  // namespace pa
