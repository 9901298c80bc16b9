#include "sandbox/capabilities.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstdint>
#include <fstream>

#include "sandbox/child_for_test.h"

namespace pa::sandbox {
namespace {

constexpr std::uint64_t kKept =
    1u << 0 | 1u << 1 | 1u << 3 | 1u << 4;  // CHOWN DAC_OVERRIDE FOWNER FSETID

// A set of /proc/self/status: "CapEff", "CapBnd", ...
std::uint64_t CapabilitySet(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1), nullptr, 16);
  }
  return ~0ull;
}

// What a program sees that is executed afterwards.
int ExecutedWith(const char* set, const char* expected) {
  const std::string script =
      std::string("grep -qE '^") + set + ":.*" + expected + "$' /proc/self/status";
  execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
  return kSetupFailed;
}

TEST(Capabilities, RootKeepsWhatOwnsFiles) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  EXPECT_EQ(InChild([] {
              if (!DropCapabilities()) return kSetupFailed;
              if (CapabilitySet("CapEff") != kKept || CapabilitySet("CapPrm") != kKept) return 1;
              if (CapabilitySet("CapInh") != 0 || CapabilitySet("CapAmb") != 0) return 2;
              return CapabilitySet("CapBnd") == kKept ? 0 : 3;
            }),
            0);
}

TEST(Capabilities, ExecDoesNotBringThemBack) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  EXPECT_EQ(InChild([] {
              return DropCapabilities() ? ExecutedWith("CapEff", "000000000000001b") : kSetupFailed;
            }),
            0);
}

// A container without CAP_SETPCAP: the bounding set stays, no_new_privs does its work.
TEST(Capabilities, NoNewPrivsReplacesTheBoundingSet) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  EXPECT_EQ(InChild([] {
              constexpr std::uint32_t kSetpcap = 1u << 8;
              const std::uint32_t header[] = {0x20080522, 0};
              std::uint32_t sets[6];  // effective, permitted, inheritable; twice
              if (syscall(SYS_capget, header, sets) != 0) return kSetupFailed;
              sets[0] &= ~kSetpcap;
              sets[1] &= ~kSetpcap;
              if (syscall(SYS_capset, header, sets) != 0) return kSetupFailed;
              if (prctl(PR_CAPBSET_DROP, 21, 0, 0, 0) == 0) return kSetupFailed;  // still possible?
              if (!DropCapabilities()) return 1;
              return ExecutedWith("CapEff", "000000000000001b");
            }),
            0);
}

TEST(Capabilities, RootStillWritesFilesOfOthers) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const TemporaryDirectory directory;
  const std::string file = directory / "file";
  std::ofstream(file) << "x";
  ASSERT_EQ(chown(file.c_str(), 65534, 65534), 0);
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  EXPECT_EQ(InChild([&] {
              if (!DropCapabilities()) return kSetupFailed;
              if (open(file.c_str(), O_RDWR | O_CLOEXEC) < 0) return 1;
              if (chmod(file.c_str(), 0644) != 0) return 2;
              return chown(file.c_str(), 0, 0) == 0 ? 0 : 3;
            }),
            0);
}

TEST(Capabilities, RootLosesTheRest) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const auto after_drop = [](auto call) {
    return InChild([&] { return DropCapabilities() ? AttemptErrno(call()) : kSetupFailed; });
  };
  EXPECT_EQ(after_drop([] { return chroot("/"); }), EPERM);
  EXPECT_EQ(after_drop([] { return sethostname("x", 1); }), EPERM);
  EXPECT_EQ(after_drop([] { return setuid(65534); }), EPERM);
  EXPECT_EQ(after_drop([] { return mknod("/tmp/capabilities-test", S_IFCHR | 0600, 0x0103); }),
            EPERM);
}

TEST(Capabilities, AnOrdinaryUserHasNone) {
  EXPECT_EQ(InChild([] {
              if (geteuid() == 0 && setuid(65534) != 0) return kSetupFailed;
              if (!DropCapabilities()) return 1;
              if (CapabilitySet("CapEff") != 0 || CapabilitySet("CapPrm") != 0) return 2;
              return CapabilitySet("CapInh") == 0 && CapabilitySet("CapAmb") == 0 ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace pa::sandbox
