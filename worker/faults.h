// Faults for tests: `project-actions-worker-faults` fails the step that PA_FAIL_STEP names (EPERM,
// or PA_FAIL_ERRNO), waits PA_PATIENCE times as long for processes that end by themselves, and uses
// no more of Landlock than PA_LANDLOCK_ABI (sandbox/landlock.cc). In every other worker these
// functions do nothing, and the binary contains none of the names.
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
