// Faults for tests: `project-actions-worker-faults` fails the step named by PA_FAIL_STEP (EPERM, or
// PA_FAIL_ERRNO), waits PA_PATIENCE times as long for what ends by itself, and sees no more of
// Landlock than PA_LANDLOCK_ABI (sandbox/landlock.cc). In every other worker this is empty, and the
// binary knows none of the names.
#pragma once

#include <cstdint>

#include "base/sys_error.h"
#include "worker/status.h"

namespace pa::worker {

#ifdef PA_TEST_FAULTS
SysResult<void> InjectedFault(Step step);
std::uint64_t Patience();
#else
inline SysResult<void> InjectedFault(Step) { return {}; }
inline std::uint64_t Patience() { return 1; }
#endif

}  // namespace pa::worker
