#include "supervisor/engine/call_counts.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(CallCounts, ToolsAndOutcomesAreApart) {
  CallCounts counts;
  counts.Add("make", kCallSucceeded, microseconds(2500));
  counts.Add("make", kCallSucceeded, microseconds(500));
  counts.Add("make", "TIMED_OUT", std::chrono::hours(1));
  counts.Add("read", kCallSucceeded, microseconds(1));
  ASSERT_EQ(counts.tools().size(), 2u);
  const ToolCounts& make = counts.tools().at("make");
  EXPECT_EQ(make.outcomes.at("ok"), 2u);
  EXPECT_EQ(make.outcomes.at("TIMED_OUT"), 1u);
  EXPECT_EQ(make.total_time_us, 3000u + 3'600'000'000u);
  EXPECT_EQ(make.times.front(), 1u);
  EXPECT_EQ(make.times[1], 1u);
  EXPECT_EQ(make.times.back(), 1u);
}

// OpenMetrics: a bucket counts what is less than its bound or equal to it.
TEST(CallCounts, ATimeAtABoundCountsBelowIt) {
  CallCounts counts;
  for (const microseconds bound : kTimeBounds) counts.Add("t", kCallSucceeded, bound);
  const ToolCounts& all = counts.tools().at("t");
  for (std::size_t i = 0; i < kTimeBounds.size(); ++i) EXPECT_EQ(all.times[i], 1u) << i;
  EXPECT_EQ(all.times.back(), 0u);
}

// The clock of the machine can be set back during a call.
TEST(CallCounts, ATimeBelowZeroIsNone) {
  CallCounts counts;
  counts.Add("t", kCallSucceeded, milliseconds(-5));
  EXPECT_EQ(counts.tools().at("t").total_time_us, 0u);
  EXPECT_EQ(counts.tools().at("t").times.front(), 1u);
}

}  // namespace
}  // namespace pa
