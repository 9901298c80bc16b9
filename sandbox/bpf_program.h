// BpfProgram: from a decision for every syscall number to the classic BPF that seccomp(2) loads.
//
//   std::vector<NumberRange> ranges = {{0, allow, {}}, {16, allow, ioctl_rules}, {17, allow, {}}};
//   Result<std::string> program = AssembleBpf(AUDIT_ARCH_X86_64, ranges);
//
// Why not libseccomp's own generator: docs/adr/0004. On every request the kernel translates the
// program and runs it once for every syscall number, so it must be short, and so must the path to a
// decision: a balanced tree over ranges of numbers, the architecture tested once, one return for
// all that end the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "sandbox/syscall_sets.h"

namespace pa::sandbox {

// What happens to the numbers from `first` up to the next range.
struct NumberRange {
  std::uint32_t first = 0;
  std::uint32_t action = 0;        // SECCOMP_RET_*; with `rules`: when none of them holds
  std::vector<SyscallRule> rules;  // tried in order; a rule that holds refuses with its error
};

// `ranges`: sorted, the first one starts at 0. Any other architecture is KILL_PROCESS. An error if
// the program would be longer than the kernel allows.
Result<std::string> AssembleBpf(std::uint32_t architecture, const std::vector<NumberRange>& ranges);

}  // namespace pa::sandbox
