// Faults for tests: `project-actions-worker-faults` fails the step named by PA_FAIL_STEP (EPERM, or
// PA_FAIL_ERRNO) and sees no more of Landlock than PA_LANDLOCK_ABI. In every other worker these are
// empty, and the binary knows neither name.
#pragma once

#include "base/sys_error.h"
#include "worker/status.h"

namespace pa::worker {

#ifdef PA_TEST_FAULTS
SysResult<void> InjectedFault(Step step);
int MaskedLandlockAbi(int abi);
#else
inline SysResult<void> InjectedFault(Step) { return {}; }
inline int MaskedLandlockAbi(int abi) { return abi; }
#endif

}  // namespace pa::worker
