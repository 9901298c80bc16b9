// In a delegated cgroup v2; elsewhere all but the last are skipped. `make test-kernels` runs them
// in one, as root and as an ordinary user.
#include "sandbox/cgroup.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>
#include <optional>
#include <string_view>

#include "sandbox/child_for_test.h"
#include "sandbox/seccomp_load.h"

namespace pa::sandbox {
namespace {

class CgroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<CgroupHome> home = CgroupHome::Open();
    if (!home) {
      const int code = home.error().sys_errno;
      const bool elsewhere =
          code == ENOENT || code == EACCES || code == EROFS || code == ENOTSUP || code == EBUSY;
      ASSERT_TRUE(elsewhere) << home.error().Message();
      GTEST_SKIP() << "no cgroup v2 is delegated to us";
    }
    home_.emplace(std::move(*home));
  }

  Cgroup Make(const CgroupLimits& limits) {
    Result<Cgroup> group = home_->Make("call-" + std::to_string(getpid()));
    EXPECT_TRUE(group) << group.error().Message();
    EXPECT_TRUE(group->Limit(limits));
    return std::move(group.value());
  }

  // Runs `act` in the group and says with what status it ended.
  static int RunIn(const Cgroup& group, const std::function<int()>& act) {
    const pid_t child = fork();
    if (child == 0) _exit(group.Add(getpid()) ? act() : 99);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  static void WaitUntilEmpty(const Cgroup& group) {
    while (group.Populated().value_or(false)) usleep(1000);
  }

  std::optional<CgroupHome> home_;
};

bool Exited(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

int Touch(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 98;
  std::memset(memory, 1, bytes);
  return 0;
}

// What the guardian's sampling does not see.
int FillMemfd(std::size_t bytes) {
  static const char kBlock[1 << 16] = {};
  const int fd = memfd_create("test", MFD_CLOEXEC);
  for (std::size_t done = 0; done < bytes; done += sizeof kBlock) {
    if (write(fd, kBlock, sizeof kBlock) < 0) return 98;
  }
  return 0;
}

int ForkUntilRefused(int most) {
  for (int i = 0; i < most; ++i) {
    const pid_t child = fork();
    if (child < 0) return errno == EAGAIN ? 7 : 98;
    if (child == 0) {
      pause();
      _exit(0);
    }
  }
  return 0;
}

TEST_F(CgroupTest, MemoryIsBoundedAtOnce) {
  Cgroup group = Make({.memory_bytes = 32u << 20});
  EXPECT_TRUE(Exited(RunIn(group, [] { return Touch(8u << 20); }), 0));
  EXPECT_EQ(group.Usage()->killed_for_memory, 0u);
  const int status = RunIn(group, [] { return Touch(64u << 20); });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_GE(group.Usage()->killed_for_memory, 1u);
  EXPECT_TRUE(group.Remove());
}

TEST_F(CgroupTest, MemoryThatIsNotMappedCounts) {
  Cgroup group = Make({.memory_bytes = 32u << 20});
  EXPECT_TRUE(Exited(RunIn(group, [] { return FillMemfd(8u << 20); }), 0));
  const int status = RunIn(group, [] { return FillMemfd(64u << 20); });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_GE(group.Usage()->killed_for_memory, 1u);
  EXPECT_TRUE(group.Remove());
}

TEST_F(CgroupTest, OneTooLargeTakesItsWholeTreeWithIt) {
  Cgroup group = Make({.memory_bytes = 32u << 20});
  const int status = RunIn(group, [] {
    if (fork() == 0) _exit(Touch(64u << 20));
    pause();
    return 0;
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  WaitUntilEmpty(group);
  EXPECT_TRUE(group.Remove());
}

TEST_F(CgroupTest, ProcessesAreCountedExactlyAlsoRoots) {
  Cgroup group = Make({.processes = 5});
  EXPECT_TRUE(Exited(RunIn(group, [] { return ForkUntilRefused(4); }), 0));
  EXPECT_TRUE(group.Kill());
  WaitUntilEmpty(group);
  EXPECT_EQ(group.Usage()->refused_processes, 0u);
  EXPECT_TRUE(Exited(RunIn(group, [] { return ForkUntilRefused(5); }), 7));
  EXPECT_EQ(group.Usage()->refused_processes, 1u);
  EXPECT_TRUE(group.Kill());
  WaitUntilEmpty(group);
  EXPECT_TRUE(group.Remove());
}

TEST_F(CgroupTest, ProcessorTimeIsWithheldAndCountedOfAllTogether) {
  Cgroup group = Make({.cpu_percent = 10});
  for (int i = 0; i < 2; ++i) {
    RunIn(group, [] {
      // From here on: what was used before belongs to the group that it was used in.
      const clock_t begin = clock();
      while (clock() - begin < CLOCKS_PER_SEC / 20) {
      }
      return 0;
    });
  }
  EXPECT_GE(group.Usage()->cpu_us, 90'000u);
  EXPECT_GE(group.Usage()->throttled, 1u);
  EXPECT_TRUE(group.Remove());
}

TEST_F(CgroupTest, KillReachesWhoeverHidAndIsDeaf) {
  Cgroup group = Make({.processes = 50});
  RunIn(group, [] {
    if (fork() == 0) {
      setsid();
      signal(SIGTERM, SIG_IGN);
      for (;;) pause();
    }
    if (fork() == 0) {
      raise(SIGSTOP);
      _exit(0);
    }
    if (fork() == 0) {  // a relay: each forks its successor and ends
      for (int generation = 0; generation < 100'000; ++generation) {
        if (fork() != 0) _exit(0);
        usleep(100);
      }
      _exit(0);
    }
    return 0;
  });
  EXPECT_TRUE(group.Populated().value());
  EXPECT_FALSE(group.Remove());
  EXPECT_TRUE(group.Kill());
  WaitUntilEmpty(group);
  EXPECT_TRUE(group.Remove());
}

TEST_F(CgroupTest, ANameIsTakenOnce) {
  Cgroup group = Make({});
  const Result<Cgroup> again = home_->Make("call-" + std::to_string(getpid()));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().sys_errno, EEXIST);
  EXPECT_TRUE(group.Remove());
}

// As many containers do. Everywhere: a group that nobody can be made in is none.
TEST(Cgroup, NoneWhereClone3IsRefused) {
  std::array code = {sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                     sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_clone3},
                     sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EXDEV},
                     sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const std::string_view program(reinterpret_cast<const char*>(code.data()), sizeof(code));
  const auto opened = [] {
    const Result<CgroupHome> home = CgroupHome::Open();
    return home ? 0 : home.error().sys_errno;
  };
  EXPECT_NE(InChild(opened), EXDEV);
  EXPECT_EQ(InChild([&] { return LoadSeccomp(program) ? opened() : kSetupFailed; }), EXDEV);
}

}  // namespace
}  // namespace pa::sandbox
