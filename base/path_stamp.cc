#include "base/path_stamp.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

namespace pa {
namespace {

std::int64_t Nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

bool PathStamp::Settled() const {
  if (!exists) return error == 0;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const bool whole_seconds = changed_ns % 1'000'000'000 == 0;  // of an old file system
  const std::int64_t tick_ns = whole_seconds ? 3'000'000'000 : 50'000'000;
  return Nanoseconds(now) - changed_ns >= tick_ns;
}

PathStamp StampOf(const struct stat& status) {
  return {.exists = true,
          .device = status.st_dev,
          .inode = status.st_ino,
          .mode = status.st_mode,
          .owner = status.st_uid,
          .group = status.st_gid,
          .links = S_ISDIR(status.st_mode) ? 0 : static_cast<std::uint64_t>(status.st_nlink),
          .size = static_cast<std::uint64_t>(status.st_size),
          .modified_ns = Nanoseconds(status.st_mtim),
          .changed_ns = Nanoseconds(status.st_ctim)};
}

bool MeansAbsent(int error) { return error == ENOENT || error == ENOTDIR; }

bool MeansGone(int error) {
  constexpr std::array kErrors = {ENOENT, ENOTDIR, EISDIR, ELOOP, EACCES,       EPERM,
                                  EINVAL, ENXIO,   ENODEV, EFBIG, ENAMETOOLONG, ESTALE};
  return std::ranges::find(kErrors, error) != kErrors.end();
}

PathStamp LookAt(const std::string& path) { return LookAt(AT_FDCWD, path); }

PathStamp LookAt(int directory_fd, const std::string& name) {
  struct stat status{};
  if (fstatat(directory_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return {.error = MeansAbsent(errno) ? 0 : errno};
  }
  return StampOf(status);
}

}  // namespace pa
