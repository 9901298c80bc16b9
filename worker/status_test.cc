#include "worker/status.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pa::worker {
namespace {

TEST(StatusTest, EveryStepHasANameOfItsOwn) {
  std::set<std::string> names;
  for (std::uint32_t step = 0; step <= static_cast<std::uint32_t>(Step::kSyncFile); ++step) {
    const std::string name = StepName(Step{step});
    EXPECT_NE(name, "unknown") << step;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_STREQ(StepName(Step{static_cast<std::uint32_t>(Step::kSyncFile) + 1}), "unknown");
}

TEST(StatusTest, LimitsAreNamedAsInThePolicy) {
  EXPECT_STREQ(LimitName(Limit::kMemory), "memory");
  EXPECT_STREQ(LimitName(Limit::kProcesses), "processes");
  EXPECT_STREQ(LimitName(Limit::kCpuTime), "cpu_time");
  EXPECT_STREQ(LimitName(Limit::kFileSize), "file_size");
}

}  // namespace
}  // namespace pa::worker
