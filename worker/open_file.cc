#include "worker/open_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/try.h"

namespace pa::worker {

SysResult<Opened> OpenBeneath(int at, const char* name, int flags, mode_t mode) {
  open_how how = {};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  Opened opened;
  opened.fd.reset(static_cast<int>(syscall(SYS_openat2, at, name, &how, sizeof how)));
  if (!opened.fd) return std::unexpected(SysError{"open", name, errno});
  if (fstat(opened.fd.get(), &opened.status) == 0) return opened;
  return std::unexpected(SysError{"fstat", name, errno});
}

SysResult<UniqueFd> OpenToRead(int at, const char* name, const struct stat& seen) {
  if (!S_ISREG(seen.st_mode)) return UniqueFd();
  PA_TRY(Opened opened, OpenBeneath(at, name, O_RDONLY | O_NOCTTY | O_NONBLOCK));
  if (opened.status.st_ino == seen.st_ino && opened.status.st_dev == seen.st_dev) {
    return std::move(opened.fd);
  }
  return std::unexpected(SysError{"open", name, ESTALE});
}

}  // namespace pa::worker
