#include "worker/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "worker/file_header.h"
#include "worker/open_file.h"

namespace pa::worker {
namespace {

constexpr std::size_t kChunk = 64u << 10;  // what a pipe takes at once
constexpr std::size_t kSmall = 8u << 10;   // most files; each page that is touched costs

SysResult<void> WriteAll(const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t put = write(STDOUT_FILENO, bytes, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return std::unexpected(SysError{"write", "stdout", errno});
    bytes += put;
    size -= static_cast<std::size_t>(put);
  }
  return {};
}

template <std::size_t kSize>
SysResult<void> Pass(const UniqueFd& file, const char* name, const FileHeader& header) {
  char buffer[kSize];
  std::memcpy(buffer, &header, sizeof header);
  std::size_t filled = sizeof header;
  for (;;) {
    const ssize_t got = file ? read(file.get(), buffer + filled, kSize - filled) : 0;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(SysError{"read", name, errno});
    filled += static_cast<std::size_t>(got);
    if (got > 0 && filled < kSize) continue;  // a short file is one write
    if (auto written = WriteAll(buffer, filled); !written || got == 0) return written;
    filled = 0;
  }
}

}  // namespace

SysResult<void> ReadFile(const char* name) {
  const SysResult<Opened> seen = OpenBeneath(AT_FDCWD, name, O_PATH);
  if (!seen) return std::unexpected(seen.error());
  const SysResult<UniqueFd> file = OpenToRead(AT_FDCWD, name, seen->status);
  if (!file) return std::unexpected(file.error());
  const FileHeader header{.mode = seen->status.st_mode,
                          .size = static_cast<std::uint64_t>(seen->status.st_size)};
  return header.size < kSmall - sizeof header ? Pass<kSmall>(*file, name, header)
                                              : Pass<kChunk>(*file, name, header);
}

}  // namespace pa::worker
