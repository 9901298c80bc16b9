// Landlock's kernel interface, for headers that are older than the kernel: those of Debian 12 stop
// at ABI 2, and musl has none. Each right stands with the ABI and the kernel version that
// introduced it. Values from include/uapi/linux/landlock.h of Linux 7.3. Freestanding.
//
// To add an ABI: its constants here, their use in HandledRights (landlock.cc), kNewestLandlockAbi,
// and what the report says about it in enforcement.cc.
#pragma once

#include <cstdint>

namespace pa::sandbox::landlock {

inline constexpr int kNewestLandlockAbi = 10;  // the newest that we use

// struct landlock_ruleset_attr of landlock_create_ruleset(2). Older kernels know a shorter one; the
// rest must then be zero.
struct RulesetAttr {
  std::uint64_t handled_access_fs = 0;   // ABI 1
  std::uint64_t handled_access_net = 0;  // ABI 4
  std::uint64_t scoped = 0;              // ABI 6
};

struct __attribute__((packed)) PathBeneathAttr {
  std::uint64_t allowed_access = 0;
  std::int32_t parent_fd = -1;
};

inline constexpr unsigned kCreateRulesetVersion = 1u << 0;
inline constexpr int kRulePathBeneath = 1;

// handled_access_fs
inline constexpr std::uint64_t kExecute = 1ull << 0;     // ABI 1, Linux 5.13
inline constexpr std::uint64_t kWriteFile = 1ull << 1;   // ABI 1
inline constexpr std::uint64_t kReadFile = 1ull << 2;    // ABI 1
inline constexpr std::uint64_t kReadDir = 1ull << 3;     // ABI 1
inline constexpr std::uint64_t kRemoveDir = 1ull << 4;   // ABI 1
inline constexpr std::uint64_t kRemoveFile = 1ull << 5;  // ABI 1
inline constexpr std::uint64_t kMakeChar = 1ull << 6;    // ABI 1
inline constexpr std::uint64_t kMakeDir = 1ull << 7;     // ABI 1
inline constexpr std::uint64_t kMakeReg = 1ull << 8;     // ABI 1
inline constexpr std::uint64_t kMakeSock = 1ull << 9;    // ABI 1
inline constexpr std::uint64_t kMakeFifo = 1ull << 10;   // ABI 1
inline constexpr std::uint64_t kMakeBlock = 1ull << 11;  // ABI 1
inline constexpr std::uint64_t kMakeSym = 1ull << 12;    // ABI 1
inline constexpr std::uint64_t kRefer = 1ull << 13;      // ABI 2, Linux 5.19
inline constexpr std::uint64_t kTruncate = 1ull << 14;   // ABI 3, Linux 6.2
inline constexpr std::uint64_t kIoctlDev = 1ull << 15;   // ABI 5, Linux 6.10
// ABI 9, Linux 7.1: connect to path sockets.
inline constexpr std::uint64_t kResolveUnix = 1ull << 16;

// handled_access_net
inline constexpr std::uint64_t kBindTcp = 1ull << 0;         // ABI 4, Linux 6.7
inline constexpr std::uint64_t kConnectTcp = 1ull << 1;      // ABI 4
inline constexpr std::uint64_t kBindUdp = 1ull << 2;         // ABI 10, Linux 7.2
inline constexpr std::uint64_t kConnectSendUdp = 1ull << 3;  // ABI 10

// scoped
inline constexpr std::uint64_t kScopeAbstractUnix = 1ull << 0;  // ABI 6, Linux 6.12
inline constexpr std::uint64_t kScopeSignal = 1ull << 1;        // ABI 6

}  // namespace pa::sandbox::landlock
