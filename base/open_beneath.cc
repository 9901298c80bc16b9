#include "base/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace pa {

UniqueFd OpenBeneath(int at, const char* path, int flags) {
  constexpr int kAttempts = 1000;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 1;; ++attempt) {
    UniqueFd fd(static_cast<int>(syscall(SYS_openat2, at, path, &how, sizeof how)));
    if (fd || errno != EAGAIN || attempt == kAttempts) return fd;
    sched_yield();
  }
}

}  // namespace pa
