// ApplyLimits: sets the limits that the kernel enforces for each process by itself. Freestanding.
//
//    SysResult<void> done = ApplyLimits({.open_files = 4096}, threads);   // in the child
//
// The guardian watches the limits of the whole tree: memory, processes, wall time. RLIMIT_AS and
// RLIMIT_DATA are not used: node, Go, Java and the sanitizers reserve terabytes that they never
// touch. An ASan program does not start under RLIMIT_DATA, because its shadow is one private
// writable mapping.
#pragma once

#include <cstdint>

#include "base/sys_error.h"
#include "sandbox/values.h"

namespace pa::sandbox {

// Sets RLIMIT_CPU (as a backstop, one second above the limit), NOFILE and FSIZE as far as `limits`
// names them, RLIMIT_NPROC as a backstop, and no core files. `present_tasks`: the threads that this
// uid has now, or more. RLIMIT_NPROC counts all of them, ours and the user's own, so the limit is
// added to that number; it does not bind root. NOFILE stays 512 below our own limit, if that is at
// least 1024, so that no command can keep us from sending descriptors (unix(7), ETOOMANYREFS).
SysResult<void> ApplyLimits(const ResourceLimits& limits, std::uint64_t present_tasks);

}  // namespace pa::sandbox
