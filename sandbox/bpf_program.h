// AssembleBpf: turns a decision for every syscall number into the classic BPF program that
// seccomp(2) loads.
//
//    std::vector<NumberRange> ranges = {{0, allow, {}}, {16, allow, ioctl_rules}, {17, allow, {}}};
//    Result<std::string> program = AssembleBpf(AUDIT_ARCH_X86_64, ranges);
//
// docs/adr/0004 says why this is not libseccomp's own generator. Each time a program is loaded, the
// kernel translates it and runs it once for every syscall number. So the program must be short, and
// so must the path to a decision: it is a balanced tree over ranges of numbers, tests the
// architecture once, and has one return for all numbers with the same result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "sandbox/syscall_sets.h"

namespace pa::sandbox {

// The decision for the numbers from `first` up to the next range.
struct NumberRange {
  std::uint32_t first = 0;
  std::uint32_t action = 0;        // SECCOMP_RET_*; with `rules`: if none of them holds
  std::vector<SyscallRule> rules;  // in order; the first rule that holds refuses with its error
};

// `ranges` are sorted, and the first one starts at 0. Calls of any other architecture are
// KILL_PROCESS. Fails if the program would be longer than the kernel allows.
Result<std::string> AssembleBpf(std::uint32_t architecture, const std::vector<NumberRange>& ranges);

}  // namespace pa::sandbox
