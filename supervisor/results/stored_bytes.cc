#include "supervisor/results/stored_bytes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/try.h"
#include "supervisor/text/escape_filter.h"

namespace pa {
namespace {

constexpr std::size_t kSlice = 1U << 20;

// Has a name for a moment only; for file systems without O_TMPFILE.
Result<UniqueFd> NamedThenUnlinked(const std::string& directory) {
  std::string path = directory + "/project-actions-result-XXXXXX";
  UniqueFd fd(mkostemp(path.data(), O_CLOEXEC));
  if (!fd) return std::unexpected(Error("mkostemp", path, errno));
  if (unlink(path.c_str()) != 0) return std::unexpected(Error("unlink", path, errno));
  return fd;
}

}  // namespace

Result<UniqueFd> MakeUnlinkedFile(const std::string& directory) {
  // O_EXCL: nobody can give the file a name afterwards (open(2)).
  UniqueFd fd(open(directory.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  if (errno != EOPNOTSUPP && errno != EISDIR) {
    return std::unexpected(Error("open O_TMPFILE", directory, errno));
  }
  return NamedThenUnlinked(directory);
}

Result<UniqueFd> DuplicateOf(int fd) {
  UniqueFd file(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!file) return std::unexpected(Error("fcntl F_DUPFD_CLOEXEC", "stored result", errno));
  return file;
}

std::size_t WriteAsFits(int fd, std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = write(fd, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    done += static_cast<std::size_t>(wrote);
  }
  return done;
}

Result<std::string> ReadBytesAt(int fd, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got =
        pread(fd, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(Error("pread", "stored result", errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

Result<void> ReadStoredText(const StoredBytes& stored,
                            const std::function<bool(std::string_view)>& visit) {
  EscapeFilter escapes(EscapeFilter::Keep::kText);
  for (std::uint64_t at = 0; at < stored.size;) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(stored.size - at, kSlice));
    PA_TRY(const std::string bytes, ReadBytesAt(stored.file.get(), at, size));
    if (bytes.empty() || !visit(escapes.Filter(bytes))) break;
    at += bytes.size();
  }
  return {};
}

}  // namespace pa
