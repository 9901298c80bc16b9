#include "supervisor/run/execution.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(Outcome, NamesAreThoseOfTheContract) {
  EXPECT_STREQ(OutcomeName(Outcome::kExited), "exited");
  EXPECT_STREQ(OutcomeName(Outcome::kSignaled), "signaled");
  EXPECT_STREQ(OutcomeName(Outcome::kTimedOut), "timed_out");
  EXPECT_STREQ(OutcomeName(Outcome::kCancelled), "cancelled");
  EXPECT_STREQ(OutcomeName(Outcome::kLimitExceeded), "limit_exceeded");
  EXPECT_STREQ(OutcomeName(Outcome::kSetupFailed), "setup_failed");
}

}  // namespace
}  // namespace pa
