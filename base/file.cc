#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/directory_reader.h"
#include "base/try.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U  // Linux 6.3
#endif

namespace pa {
namespace {

constexpr std::size_t kChunk = 64u << 10;

Result<UniqueFd> CreateMemfd(const char* name, unsigned flags) {
  UniqueFd fd(memfd_create(name, flags | MFD_NOEXEC_SEAL));  // which can be sealed, too
  if (!fd && errno == EINVAL) fd.reset(memfd_create(name, flags | MFD_ALLOW_SEALING));
  if (!fd) return std::unexpected(Error("memfd_create", name, errno));
  return fd;
}

}  // namespace

Result<UniqueFd> OpenRegular(const std::string& path, int flags, mode_t mode) {
  // O_NONBLOCK: opening a FIFO must not wait for its other end. It means nothing to a regular file.
  UniqueFd fd(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode));
  if (!fd) return std::unexpected(Error("open", path, errno));
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return std::unexpected(Error("fstat", path, errno));
  if (!S_ISREG(status.st_mode)) return std::unexpected(Error("open regular file", path, EINVAL));
  return fd;
}

Result<std::string> ReadFile(const std::string& path, std::size_t max_bytes) {
  PA_TRY(const UniqueFd fd, OpenRegular(path, O_RDONLY));
  return ReadFileFrom(fd.get(), path, max_bytes);
}

Result<UniqueFd> OpenToRead(const std::string& path) { return OpenRegular(path, O_RDONLY); }

Result<std::string> ReadFileBy(const OpenFile& open, const std::string& path,
                               std::size_t max_bytes) {
  PA_TRY(const UniqueFd fd, open(path));
  return ReadFileFrom(fd.get(), path, max_bytes);
}

Result<std::string> ReadFileFrom(int fd, const std::string& name, std::size_t max_bytes) {
  struct stat status;
  if (fstat(fd, &status) != 0) return std::unexpected(Error("fstat", name, errno));
  if (!S_ISREG(status.st_mode)) {
    return std::unexpected(Error("read regular file", name, EINVAL));
  }
  // st_size is a hint only: files of /proc say 0, and a file may grow while it is read. Where it is
  // none, a read that gives less than was asked for has met the end.
  const auto hint = static_cast<std::size_t>(status.st_size);
  std::string content;
  std::size_t size = 0;
  std::size_t want = hint == 0 ? kChunk : hint + 1;
  while (true) {
    content.resize(size + std::min(want, max_bytes - size + 1));
    const ssize_t got =
        pread(fd, content.data() + size, content.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(Error("read", name, errno));
    size += static_cast<std::size_t>(got);
    if (size > max_bytes) return std::unexpected(Error("read", name, EFBIG));
    if (got == 0 || (hint != 0 && size < content.size())) break;
    want = kChunk;
  }
  content.resize(size);
  return content;
}

Result<UniqueFd> EmptyMemfd(const char* name) { return CreateMemfd(name, MFD_CLOEXEC); }

Result<void> WriteSealed(int memfd, const char* name, std::string_view content) {
  PA_TRY_VOID(WriteAll(memfd, content));
  const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (fcntl(memfd, F_ADD_SEALS, seals) == 0) return {};
  return std::unexpected(Error("fcntl F_ADD_SEALS", name, errno));
}

// Its flags tell it from others for the tests of a kernel that has no room.
Result<UniqueFd> SealedMemfd(const char* name, std::string_view content) {
  PA_TRY(UniqueFd fd, CreateMemfd(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  PA_TRY_VOID(WriteSealed(fd.get(), name, content));
  if (lseek(fd.get(), 0, SEEK_SET) != 0) return std::unexpected(Error("lseek", name, errno));
  return fd;
}

Result<std::vector<std::string>> ReadNames(const std::string& directory, int flags,
                                           std::size_t most) {
  const UniqueFd fd(open(directory.c_str(), flags | O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return std::unexpected(Error("open", directory, errno));
  std::vector<std::string> names;
  DirectoryReader reader(fd.get());
  while (names.size() < most) {
    const auto entry = reader.Next();
    if (!entry) break;
    names.emplace_back(entry->name);
  }
  if (reader.failed()) return std::unexpected(Error("read", directory, errno));
  std::ranges::sort(names);
  return names;
}

Result<void> WriteAll(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t wrote = write(fd, data.data(), data.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return std::unexpected(Error("write", "", errno));
    data.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Result<void> SyncPath(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return std::unexpected(Error("open", path, errno));
  if (fsync(fd.get()) != 0) return std::unexpected(Error("fsync", path, errno));
  return {};
}

}  // namespace pa
