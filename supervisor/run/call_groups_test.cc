// In a delegated cgroup the second half; integration/limits_test.cc has the rest, with real
// commands.
#include "supervisor/run/call_groups.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace pa {
namespace {

class CallGroupsTest : public ::testing::Test {
 protected:
  CallGroupsTest() {
    uv_loop_init(&loop_);
    groups_.emplace(&loop_);
    groups_->Open();
  }
  ~CallGroupsTest() override {
    groups_.reset();
    while (uv_run(&loop_, UV_RUN_NOWAIT) != 0) {
    }
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }
  uv_loop_t loop_;
  std::optional<CallGroups> groups_;
};

TEST_F(CallGroupsTest, EitherThereOrNotForAReason) {
  EXPECT_EQ(groups_->there(), groups_->why_not().empty());
  groups_->Open();
  EXPECT_EQ(groups_->there(), groups_->why_not().empty());
}

TEST_F(CallGroupsTest, AGroupGoesWithItsOwnerAndWhoeverLivesInIt) {
  if (!groups_->there()) GTEST_SKIP() << "no cgroup v2 is delegated to us";
  std::string path;
  {
    const Result<CallGroup> made = groups_->Make();
    ASSERT_TRUE(made) << made.error().Message();
    path = std::filesystem::read_symlink("/proc/self/fd/" +
                                         std::to_string(made->cgroup().directory()));
    const pid_t child = fork();
    if (child == 0) {
      for (;;) pause();
    }
    ASSERT_TRUE(made->cgroup().Add(child));
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  for (int i = 0; i < 1000 && std::filesystem::exists(path); ++i) uv_run(&loop_, UV_RUN_ONCE);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(GroupLimitsTest, LeaveRoomForTheGuardian) {
  const sandbox::CgroupLimits limits = GroupLimits({.memory_bytes = 5, .processes = 7, .cpus = 2});
  EXPECT_EQ(limits.cpu_percent, 200u);
  EXPECT_EQ(limits.memory_bytes, 5u);
  EXPECT_GT(limits.processes, 8u);
  EXPECT_EQ(GroupLimits({}).processes, 0u) << "no limit is no limit";
}

}  // namespace
}  // namespace pa
