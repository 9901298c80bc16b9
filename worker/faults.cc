#include "worker/faults.h"

#ifdef PA_TEST_FAULTS

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace pa::worker {

SysResult<void> InjectedFault(Step step) {
  const char* name = std::getenv("PA_FAIL_STEP");
  if (name == nullptr || std::string_view(name) != StepName(step)) return {};
  const char* code = std::getenv("PA_FAIL_ERRNO");
  return std::unexpected(SysError{"injected", name, code != nullptr ? std::atoi(code) : EPERM});
}

int MaskedLandlockAbi(int abi) {
  const char* mask = std::getenv("PA_LANDLOCK_ABI");
  return mask != nullptr ? std::min(abi, std::atoi(mask)) : abi;
}

}  // namespace pa::worker

#endif
