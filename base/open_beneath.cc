#include "base/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

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

UniqueFd WithErrno(int error) {
  errno = error;
  return {};
}

bool IsSymlink(int fd) {
  struct stat status{};
  return fstat(fd, &status) != 0 || S_ISLNK(status.st_mode);
}

// The same without openat2(2), a component at a time.
UniqueFd OpenStepByStep(int at, std::string_view path, int flags) {
  const bool beneath = at != AT_FDCWD;
  if (beneath && path.starts_with('/')) return WithErrno(EXDEV);
  UniqueFd held;
  if (path.starts_with('/')) held = UniqueFd(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (;;) {
    const std::size_t slash = path.find('/');
    const bool last = slash == path.npos;
    const std::string name(held && path.substr(0, slash).empty() ? "." : path.substr(0, slash));
    if (beneath && name == "..") return WithErrno(EXDEV);
    const int from = held ? held.get() : at;
    UniqueFd next(openat(from, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return next;
    const bool itself = last && (flags & O_NOFOLLOW) != 0;
    if (!itself && IsSymlink(next.get())) return WithErrno(ELOOP);
    if (last) return UniqueFd(openat(from, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
    held = std::move(next);
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

UniqueFd OpenBeneath(int at, const char* path, int flags) {
  return Open(at, path, flags, RESOLVE_BENEATH);
}

UniqueFd OpenPlain(int at, const char* path, int flags) {
  constexpr std::uint64_t kPlain = RESOLVE_NO_SYMLINKS;
  UniqueFd fd = Open(at, path, flags, at == AT_FDCWD ? kPlain : kPlain | RESOLVE_BENEATH);
  const bool refused = !fd && (errno == ENOSYS || errno == EPERM);
  return refused ? OpenStepByStep(at, path, flags) : std::move(fd);
}

}  // namespace pa
