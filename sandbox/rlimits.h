// ApplyLimits: the ceilings that the kernel keeps for each process by itself. Freestanding.
//
// Of the whole tree the guardian keeps count: memory, processes, wall time. Why no RLIMIT_AS and no
// RLIMIT_DATA: node, Go, Java and the sanitizers reserve terabytes that they never touch. An ASan
// program does not start under RLIMIT_DATA, because its shadow is one private writable mapping.
#pragma once

#include <cstdint>

#include "base/sys_error.h"
#include "sandbox/values.h"

namespace pa::sandbox {

// RLIMIT_CPU (a second above, as a backstop), NOFILE, FSIZE as far as `limits` names them,
// RLIMIT_NPROC as a backstop, and no core files. `present_tasks`: threads that this uid has now;
// RLIMIT_NPROC counts them all, ours and the user's own, so the limit comes on top. It does not
// bind root. NOFILE stays 512 below our own, if ours is 1024 at least, so that no command can keep
// us from sending descriptors (unix(7), ETOOMANYREFS).
SysResult<void> ApplyLimits(const ResourceLimits& limits, std::uint64_t present_tasks);

}  // namespace pa::sandbox
