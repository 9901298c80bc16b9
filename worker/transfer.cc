#include "worker/transfer.h"

#include <unistd.h>

#include <cerrno>

#include "base/try.h"

namespace pa::worker {

SysResult<std::size_t> ReadSome(int fd, void* into, std::size_t size, const char* name) {
  for (;;) {
    const ssize_t got = read(fd, into, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return std::unexpected(SysError{"read", name, errno});
  }
}

SysResult<void> ReadAll(int fd, void* into, std::size_t size, const char* name) {
  auto* bytes = static_cast<char*>(into);
  while (size > 0) {
    PA_TRY(const std::size_t got, ReadSome(fd, bytes, size, name));
    // Half of it is no file.
    if (got == 0) return std::unexpected(SysError{"read", name, ENODATA});
    bytes += got;
    size -= got;
  }
  return {};
}

SysResult<void> WriteAll(int fd, const void* from, std::size_t size, const char* name) {
  const auto* bytes = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t put = write(fd, bytes, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return std::unexpected(SysError{"write", name, errno});
    bytes += put;
    size -= static_cast<std::size_t>(put);
  }
  return {};
}

SysResult<void> ReadStdin(void* into, std::size_t size) {
  return ReadAll(STDIN_FILENO, into, size, "stdin");
}

SysResult<void> WriteStdout(const void* from, std::size_t size) {
  return WriteAll(STDOUT_FILENO, from, size, "stdout");
}

}  // namespace pa::worker
