#include "worker/faults.h"

#ifdef PA_TEST_FAULTS

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace pa::worker {

namespace {

int NumberOr(const char* text, int otherwise) {
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), otherwise);
  return otherwise;
}

}  // namespace

SysResult<void> InjectedFault(Step step) {
  const char* name = std::getenv("PA_FAIL_STEP");
  if (name == nullptr || std::string_view(name) != StepName(step)) return {};
  const int code = NumberOr(std::getenv("PA_FAIL_ERRNO"), EPERM);
  return std::unexpected(SysError{"injected", name, code});
}

std::uint64_t Patience() {
  return static_cast<std::uint64_t>(NumberOr(std::getenv("PA_PATIENCE"), 1));
}

}  // namespace pa::worker

#endif
