#include "supervisor/state/passable.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/proc_path.h"

namespace pa {
namespace {

constexpr std::uint32_t kPermissions = 07777;
constexpr int kDirectory = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

void MakePassable(int fd) {
  struct stat status{};
  if (fstat(fd, &status) != 0 || (status.st_mode & S_IRWXU) == S_IRWXU) return;
  const std::string path = ProcPath(fd);
  (void)chmod(path.c_str(), (status.st_mode & kPermissions) | S_IRWXU);  // what fails next says so
}

}  // namespace

UniqueFd OpenParent(int area_fd, const std::string& area, const std::string& path,
                    std::string* gone) {
  UniqueFd at(fcntl(area_fd, F_DUPFD_CLOEXEC, 0));
  if (!at) return at;
  for (std::size_t begin = area.size() + 1;;) {
    MakePassable(at.get());
    const std::size_t end = path.find('/', begin);
    if (end == std::string::npos) return at;
    UniqueFd next(openat(at.get(), path.substr(begin, end - begin).c_str(), kDirectory));
    if (!next) {
      const int error = errno;
      *gone = path.substr(0, end);
      errno = error;
      return next;
    }
    at = std::move(next);
    begin = end + 1;
  }
}

}  // namespace pa
