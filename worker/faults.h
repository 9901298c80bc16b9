// Faults for tests: `project-actions-worker-faults` fails the step named by PA_FAIL_STEP (EPERM, or
// PA_FAIL_ERRNO) and sees no more of Landlock than PA_LANDLOCK_ABI (sandbox/landlock.cc). In every
// other worker this is empty, and the binary knows none of the names.
#pragma once

#include "base/sys_error.h"
#include "worker/status.h"

namespace pa::worker {

#ifdef PA_TEST_FAULTS
SysResult<void> InjectedFault(Step step);
#else
inline SysResult<void> InjectedFault(Step) { return {}; }
#endif

}  // namespace pa::worker
