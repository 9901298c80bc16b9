#include "sandbox/rlimits.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "sandbox/child_for_test.h"

namespace pa::sandbox {
namespace {

struct rlimit Present(int resource) {
  struct rlimit limit{};
  getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  return limit;
}

// In a child with `limits`: what `body` returns.
template <typename Body>
int Limited(const ResourceLimits& limits, Body body, std::uint64_t tasks = 0) {
  return InChild([&] { return ApplyLimits(limits, tasks) ? body() : kSetupFailed; });
}

TEST(Rlimits, WithoutLimitsOnlyCoreFilesGo) {
  const rlim_t files = Present(RLIMIT_NOFILE).rlim_max;
  const rlim_t processes = Present(RLIMIT_NPROC).rlim_max;
  EXPECT_EQ(Limited({},
                    [&] {
                      if (Present(RLIMIT_CORE).rlim_max != 0) return 1;
                      if (Present(RLIMIT_NOFILE).rlim_max != files) return 2;
                      return Present(RLIMIT_NPROC).rlim_max == processes ? 0 : 3;
                    }),
            0);
}

TEST(Rlimits, AStricterLimitStays) {
  EXPECT_EQ(InChild([] {
              const struct rlimit strict{10, 20};
              if (setrlimit(RLIMIT_NOFILE, &strict) != 0) return kSetupFailed;
              if (!ApplyLimits({.open_files = 4096}, 0)) return 1;
              const struct rlimit now = Present(RLIMIT_NOFILE);
              return now.rlim_max == 20 && now.rlim_cur == 20 ? 0 : 2;
            }),
            0);
}

// What may be on its way through sockets is bounded by it: ours must stay the larger.
TEST(Rlimits, OpenFilesStayBelowOurs) {
  EXPECT_EQ(InChild([] {
              const struct rlimit ours{1024, 2048};
              if (setrlimit(RLIMIT_NOFILE, &ours) != 0) return kSetupFailed;
              if (!ApplyLimits({.open_files = 4096}, 0)) return 1;
              const struct rlimit now = Present(RLIMIT_NOFILE);
              return now.rlim_max == 1536 && now.rlim_cur == 1536 ? 0 : 2;
            }),
            0);
}

TEST(Rlimits, OpenFiles) {
  const auto open_many = [](int count) {
    for (int i = 0; i < count; ++i) {
      if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) return errno;
    }
    return 0;
  };
  EXPECT_EQ(Limited({.open_files = 50}, [&] { return open_many(60); }), EMFILE);
  EXPECT_EQ(Limited({.open_files = 50}, [&] { return open_many(20); }), 0);
}

TEST(Rlimits, FileSize) {
  const TemporaryDirectory directory;
  const auto write_bytes = [&](std::size_t count) {
    const int fd =
        open((directory / "file").c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    const std::string bytes(count, 'x');
    if (write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(count)) return 1;
    return write(fd, "x", 1) == 1 ? 0 : 2;
  };
  EXPECT_EQ(Limited({.file_bytes = 4096}, [&] { return write_bytes(4096); }), kBySignal + SIGXFSZ);
  EXPECT_EQ(Limited({.file_bytes = 4096}, [&] { return write_bytes(4000); }), 0);
}

TEST(Rlimits, CpuTime) {
  const auto spin = [] {
    for (volatile unsigned long i = 0;;) i = i + 1;
    return 0;
  };
  EXPECT_EQ(Limited({.cpu_seconds = 1}, spin), kBySignal + SIGXCPU);
  EXPECT_EQ(Limited({.cpu_seconds = 1},
                    [&] {
                      signal(SIGXCPU, SIG_IGN);  // banned-ok: the shortest for a test
                      return spin();
                    }),
            kBySignal + SIGKILL);
  EXPECT_EQ(Limited({.cpu_seconds = 1}, [] { return 0; }), 0);
}

TEST(Rlimits, ProcessesComeOnTopOfWhatRuns) {
  const auto limit = [](std::uint64_t processes, std::uint64_t present, rlim_t expected) {
    return Limited(
        {.processes = processes},
        [&] { return Present(RLIMIT_NPROC).rlim_cur == expected ? 0 : 1; }, present);
  };
  EXPECT_EQ(limit(5, 100, 105), 0);
  EXPECT_EQ(limit(5, 0, 5), 0);
}

TEST(Rlimits, ProcessesOfAnOrdinaryUserStop) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become a user without processes";
  const auto start_some = [] {
    int started = 0;
    for (; started < 20; ++started) {
      const pid_t pid = fork();
      if (pid < 0) break;
      if (pid == 0) {
        usleep(200'000);
        _exit(0);
      }
    }
    return started;
  };
  const int started = InChild([&] {
    // Nobody else's, nor that of this test in another run: the kernel counts by user. A container
    // may have 65536.
    if (setuid(static_cast<uid_t>(20'000 + getpid() % 40'000)) != 0) return kSetupFailed;
    return ApplyLimits({.processes = 5}, 1) ? start_some() : kSetupFailed;
  });
  EXPECT_EQ(started, 5);  // this one is present, five come on top
}

}  // namespace
}  // namespace pa::sandbox
