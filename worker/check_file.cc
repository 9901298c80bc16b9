#include "worker/check_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/try.h"
#include "base/unique_fd.h"
#include "worker/sha256.h"
#include "worker/transfer.h"

namespace pa::worker {
namespace {

constexpr std::size_t kBuffer = 16u << 10;

SysResult<UniqueFd> Open(const char* name, int flags, struct stat& status) {
  UniqueFd fd(openat(AT_FDCWD, name, flags | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return std::unexpected(SysError{"open", name, errno});
  if (fstat(fd.get(), &status) != 0) return std::unexpected(SysError{"fstat", name, errno});
  return fd;
}

// Looked at by O_PATH first: opening a device can make it act, and opening a FIFO blocks.
SysResult<UniqueFd> OpenRegular(const char* name) {
  struct stat seen;
  PA_TRY(const UniqueFd path, Open(name, O_PATH, seen));
  if (!S_ISREG(seen.st_mode)) return std::unexpected(SysError{"open", name, ESTALE});
  struct stat status;
  PA_TRY(UniqueFd file, Open(name, O_RDONLY | O_NOCTTY | O_NONBLOCK, status));
  if (status.st_dev == seen.st_dev && status.st_ino == seen.st_ino) return file;
  return std::unexpected(SysError{"open", name, ESTALE});
}

}  // namespace

SysResult<void> CheckFile(const char* name, std::string_view digest) {
  PA_TRY(const UniqueFd file, OpenRegular(name));
  Sha256 hash;
  char buffer[kBuffer];
  for (;;) {
    PA_TRY(const std::size_t got, ReadSome(file.get(), buffer, sizeof buffer, name));
    if (got == 0) break;
    hash.Update(buffer, got);
  }
  std::uint8_t found[kDigestBytes];
  hash.Finish(found);
  if (digest.size() == sizeof found && std::memcmp(found, digest.data(), sizeof found) == 0) {
    return {};
  }
  return std::unexpected(SysError{"compare", name, ESTALE});
}

}  // namespace pa::worker
