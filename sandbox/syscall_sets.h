// RefusedSyscalls, OnlySyscalls: which system calls a command may make, as tables. The module does
// not use libseccomp; seccomp_compile.cc makes programs of the tables.
//
// A profile for commands is an allow-list by subtraction: it allows every call that libseccomp
// knows by name, up to the last one that was reviewed for this file, minus the rules below. Any
// other number is ENOSYS, so that a newer kernel or a newer libseccomp never opens anything.
//
// The profiles of workers that work with files themselves (kFiles, kFileChanges) are lists of the
// calls that they need; any other call kills the worker. No other program runs there that could
// need more. So are those of the front door (kFrontDoor), of the janitor's jobs (kJanitor) and of
// the server (kServer), for which there is no other call: their C library and libuv, which are the
// system's, try newer calls first.
//
// To refuse a system call: add one line with its reason in syscall_sets.cc, one attempt and its
// allowed twin in seccomp_compile_test.cc. To allow a newer system call: read what it can do with
// paths, other processes and namespaces, add rules for what it must not do, then raise
// kLastReviewed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sandbox/values.h"

namespace pa::sandbox {

// futex_requeue, Linux 6.7. Numbers above 423 are the same on every architecture.
inline constexpr int kLastReviewed = 456;

// A test of one argument. A filter sees registers only, never the memory that a pointer points to.
// Arguments of type int and flag words are compared by their lower half, because the kernel looks
// at no more.
struct ArgTest {
  enum class Op : std::uint8_t {
    kNone,
    kAnyBit,       // (lower half & mask) != 0
    kMaskedEqual,  // (lower half & mask) == value
    kNotIn,      // (lower half & mask) is none of the numbers below 32 whose bit is set in `value`
    kNotNull,    // a pointer: any of the 64 bits is set
    kNotListed,  // lower half is none of `list`
  };
  Op op = Op::kNone;
  unsigned arg = 0;
  std::uint32_t mask = 0;
  std::uint32_t value = 0;
  std::span<const std::uint32_t> list = {};  // in ascending order, without duplicates
  bool operator==(const ArgTest& other) const {
    return op == other.op && arg == other.arg && mask == other.mask && value == other.value &&
           std::ranges::equal(list, other.list);
  }
};

inline constexpr int kEveryAbi = 1 << 30;

// Refused with `error` if all tests hold and the Landlock ABI is below `below_abi`.
struct SyscallRule {
  const char* name = nullptr;
  int error = 0;
  const char* reason = nullptr;
  ArgTest first = {};
  ArgTest second = {};
  int below_abi = kEveryAbi;
};

// The rules that hold for this profile, network, Landlock ABI and sight.
std::vector<SyscallRule> RefusedSyscalls(SeccompProfile profile, Network network, int landlock_abi,
                                         Sight sight = Sight::kHost);

// The calls that SeccompProfile::kFiles, kFileChanges, kFrontDoor, kJanitor and kServer allow; they
// allow no other.
struct AllowedSyscall {
  const char* name = nullptr;
  const char* reason = nullptr;
};
std::vector<AllowedSyscall> OnlySyscalls(SeccompProfile profile);
// Those of them that are refused for some arguments, or this time: kServer.
std::vector<SyscallRule> RulesOfListed(SeccompProfile profile, Network network);

}  // namespace pa::sandbox
