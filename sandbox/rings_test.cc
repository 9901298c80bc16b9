#include "sandbox/rings.h"

#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"
#include "sandbox/child_for_test.h"

namespace pa::sandbox {
namespace {

int MakeRing() {
  io_uring_params parameters = {};
  return static_cast<int>(syscall(SYS_io_uring_setup, 1, &parameters));
}

TEST(Rings, AreAsOnAKernelWithoutThem) {
  EXPECT_EQ(InChild([] { return RefuseRings() ? AttemptErrno(MakeRing()) : kSetupFailed; }),
            ENOSYS);
  // All else goes on.
  EXPECT_EQ(InChild([] { return RefuseRings() && CheckNoRings() ? 0 : kSetupFailed; }), 0);
}

TEST(Rings, OneThatIsThereIsFound) {
  const UniqueFd ring(MakeRing());
  if (!ring) GTEST_SKIP() << "this kernel gives no ring: " << strerror(errno);
  const Result<void> checked = CheckNoRings();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().sys_errno, EBUSY);
}

}  // namespace
}  // namespace pa::sandbox
