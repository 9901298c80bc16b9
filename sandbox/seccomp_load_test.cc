#include "sandbox/seccomp_load.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <vector>

#include "sandbox/child_for_test.h"

namespace pa::sandbox {
namespace {

std::string Program(std::vector<sock_filter> code) {
  return {reinterpret_cast<const char*>(code.data()), code.size() * sizeof(sock_filter)};
}
constexpr sock_filter kAllow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};

int LoadErrno(std::string_view program) {
  return InChild([&] {
    const SysResult<void> loaded = LoadSeccomp(program);
    return loaded ? 0 : loaded.error().sys_errno;
  });
}

TEST(SeccompLoad, AFinishedProgramIsInForce) {
  const std::string program = Program({{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                                       {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_getppid},
                                       {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOTTY},
                                       kAllow});
  EXPECT_EQ(InChild([&] {
              if (!LoadSeccomp(program)) return kSetupFailed;
              return AttemptErrno(syscall(SYS_getppid));
            }),
            ENOTTY);
  EXPECT_EQ(InChild([&] {
              if (!LoadSeccomp(program)) return kSetupFailed;
              return AttemptErrno(syscall(SYS_getpid));
            }),
            0);
}

TEST(SeccompLoad, TheSizeIsChecked) {
  const std::string one = Program({kAllow});
  EXPECT_EQ(LoadErrno(one), 0);
  EXPECT_EQ(LoadErrno(""), EINVAL);
  EXPECT_EQ(LoadErrno(one.substr(0, 7)), EINVAL);
  EXPECT_EQ(LoadErrno(one + "x"), EINVAL);
  EXPECT_EQ(LoadErrno(Program(std::vector<sock_filter>(4096, kAllow))), 0);
  EXPECT_EQ(LoadErrno(Program(std::vector<sock_filter>(4097, kAllow))), EINVAL);
  // 65537 instructions would be one in the kernel's 16 bits.
  EXPECT_EQ(LoadErrno(Program(std::vector<sock_filter>(65537, kAllow))), EINVAL);
}

TEST(SeccompLoad, TheKernelRefusesNonsense) {
  EXPECT_EQ(LoadErrno(std::string(8, '\xff')), EINVAL);
}

}  // namespace
}  // namespace pa::sandbox
