#include "worker/read_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "base/try.h"
#include "worker/file_header.h"
#include "worker/open_file.h"
#include "worker/transfer.h"

namespace pa::worker {
namespace {

constexpr std::size_t kPipeful = 64u << 10;  // what a pipe takes at once
constexpr std::size_t kSmall = 8u << 10;     // most files; each page that is touched costs

// `most`: of the file; 0: all of it.
template <std::size_t kSize>
SysResult<void> Pass(const UniqueFd& file, const char* name, const FileHeader& header,
                     std::uint64_t most) {
  std::uint64_t left = most == 0 ? UINT64_MAX : most;
  char buffer[kSize];
  std::memcpy(buffer, &header, sizeof header);
  std::size_t filled = sizeof header;
  for (;;) {
    std::size_t got = 0;
    const std::size_t room = kSize - filled;
    if (file && left > 0) {
      PA_TRY(got, ReadSome(file.get(), buffer + filled, left < room ? left : room, name));
    }
    filled += got;
    left -= got;
    if (got > 0 && filled < kSize) continue;  // a short file is one write
    if (auto written = WriteStdout(buffer, filled); !written || got == 0) return written;
    filled = 0;
  }
}

}  // namespace

SysResult<void> ReadFile(const char* name, std::uint64_t most) {
  SysResult<Opened> seen = OpenBeneath(AT_FDCWD, name, O_PATH);
  SysResult<UniqueFd> file;
  for (int looks = 1; seen; ++looks) {
    file = OpenToRead(AT_FDCWD, name, seen->status);
    // Replaced by another one in between, as whoever saves a file does.
    if (file || file.error().sys_errno != ESTALE || looks == kLooks) break;
    seen = OpenBeneath(AT_FDCWD, name, O_PATH);
  }
  if (!seen) return std::unexpected(seen.error());
  if (!file) return std::unexpected(file.error());
  const FileHeader header{.mode = seen->status.st_mode,
                          .size = static_cast<std::uint64_t>(seen->status.st_size)};
  return header.size < kSmall - sizeof header ? Pass<kSmall>(*file, name, header, most)
                                              : Pass<kPipeful>(*file, name, header, most);
}

}  // namespace pa::worker
