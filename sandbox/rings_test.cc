#include "sandbox/rings.h"

#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "base/unique_fd.h"

namespace pa::sandbox {
namespace {

int MakeRing() {
  io_uring_params parameters = {};
  return static_cast<int>(syscall(SYS_io_uring_setup, 1, &parameters));
}

// The exit status of a process that does it; what it gives up is given up for good.
int InAProcess(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Rings, AreAsOnAKernelWithoutThem) {
  EXPECT_EQ(InAProcess([] {
              if (!RefuseRings()) return 1;
              if (MakeRing() >= 0 || errno != ENOSYS) return 2;
              if (getppid() == 0) return 3;  // other calls go on
              return CheckNoRings() ? 0 : 4;
            }),
            0);
}

TEST(Rings, OneThatIsThereIsFound) {
  const UniqueFd ring(MakeRing());
  if (!ring) GTEST_SKIP() << "this kernel gives no ring: " << strerror(errno);
  EXPECT_EQ(InAProcess([] {
              const Result<void> checked = CheckNoRings();
              return checked ? 1 : checked.error().sys_errno;
            }),
            EBUSY);
}

}  // namespace
}  // namespace pa::sandbox
