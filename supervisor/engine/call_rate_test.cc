#include "supervisor/engine/call_rate.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(CallRate, TenSecondsAtOnceThenOneByOne) {
  CallRate rate;
  CallRate::Clock::time_point now{};
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(rate.Take(60, now)) << i;
  EXPECT_EQ(rate.Take(60, now), milliseconds(1000));
  EXPECT_EQ(rate.Take(60, now + milliseconds(400)), milliseconds(600));
  // The time that it tells is right.
  now += milliseconds(1000);
  EXPECT_FALSE(rate.Take(60, now));
  EXPECT_TRUE(rate.Take(60, now));
  now += seconds(3600);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(rate.Take(60, now)) << i;
  EXPECT_TRUE(rate.Take(60, now));
}

TEST(CallRate, OneAMinuteIsOne) {
  CallRate rate;
  CallRate::Clock::time_point now{};
  EXPECT_FALSE(rate.Take(1, now));
  EXPECT_EQ(rate.Take(1, now), seconds(60));
  EXPECT_FALSE(rate.Take(1, now + seconds(60)));
}

// A policy that is read again counts at once.
TEST(CallRate, ItFollowsThePolicy) {
  CallRate rate;
  const CallRate::Clock::time_point now{};
  EXPECT_FALSE(rate.Take(1, now));
  EXPECT_TRUE(rate.Take(1, now));
  EXPECT_FALSE(rate.Take(600, now + milliseconds(100)));
}

}  // namespace
}  // namespace pa
