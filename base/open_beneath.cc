#include "base/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace pa {
namespace {

UniqueFd Open(int at, const char* path, int flags, std::uint64_t resolve) {
  constexpr int kAttempts = 1000;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = resolve | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 1;; ++attempt) {
    UniqueFd fd(static_cast<int>(syscall(SYS_openat2, at, path, &how, sizeof how)));
    if (fd || errno != EAGAIN || attempt == kAttempts) return fd;
    sched_yield();
  }
}

}  // namespace

UniqueFd OpenBeneath(int at, const char* path, int flags) {
  return Open(at, path, flags, RESOLVE_BENEATH);
}

UniqueFd OpenPlain(int at, const char* path, int flags) {
  constexpr std::uint64_t kPlain = RESOLVE_NO_SYMLINKS;
  return Open(at, path, flags, at == AT_FDCWD ? kPlain : kPlain | RESOLVE_BENEATH);
}

}  // namespace pa
