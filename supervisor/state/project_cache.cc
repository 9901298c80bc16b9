#include "supervisor/state/project_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/open_beneath.h"
#include "base/proc_path.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "policy/caches.h"

namespace pa {
namespace {

// One step down, and no other way than by a directory of that name. With a path in hand that is
// resolved, a symlink on the way was put there afterwards.
Result<UniqueFd> Enter(const UniqueFd& parent, const std::string& name, const std::string& path) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd fd(openat(parent.get(), name.c_str(), kFlags));
  if (fd) return fd;
  if (errno != ENOENT) return std::unexpected(Error("open", path, errno));
  // EEXIST: somebody else was faster, which is as well.
  if (mkdirat(parent.get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
    return std::unexpected(Error("mkdir", path, errno));
  }
  fd.reset(openat(parent.get(), name.c_str(), kFlags));
  if (!fd) return std::unexpected(Error("open", path, errno));
  return fd;
}

// Another user can exchange what is theirs at any time.
Result<void> MakeOurs(const UniqueFd& fd, const std::string& path) {
  struct stat info{};
  if (fstat(fd.get(), &info) != 0) return std::unexpected(Error("stat", path, errno));
  if (info.st_uid != geteuid()) return std::unexpected(Error("owner of", path, EPERM));
  if ((info.st_mode & 07777) == 0700) return {};
  // O_PATH allows no fchmod(2), and a name may be a symlink by now.
  const UniqueFd again(open(ProcPath(fd.get()).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (again && fchmod(again.get(), 0700) == 0) return {};
  // One that we may not even read; a server that has confined itself cannot do this.
  if (chmod(ProcPath(fd.get()).c_str(), 0700) == 0) return {};
  return std::unexpected(Error("chmod", path, errno));
}

// The usual case, in a few looks: all of them are there, with no symlink on the way, and ours from
// the character `ours` on.
bool IsThere(const std::string& path, std::size_t ours) {
  const UniqueFd fd = OpenPlain(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY);
  if (!fd) return false;
  for (std::size_t end = ours; end != std::string::npos;) {
    end = path.find('/', end + 1);
    struct stat info{};
    const bool alone = lstat(path.substr(0, end).c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
                       info.st_uid == geteuid() && (info.st_mode & 07777) == 0700;
    if (!alone) return false;
  }
  return true;
}

}  // namespace

Result<void> MakeProjectCache(const policy::Caches& caches, const std::string& directory) {
  if (!caches.why_none.empty()) return std::unexpected(Error("caches", caches.why_none));
  const std::string path = policy::CacheDirectory(caches, directory);
  if (path.empty() && caches.base.empty()) return {};
  if (path.empty()) return std::unexpected(Error("name the cache of", directory, ENAMETOOLONG));
  // From here on the directories are ours: project-actions, caches and the project's.
  const std::size_t ours = caches.base.rfind('/', caches.base.rfind('/') - 1);
  if (IsThere(path, ours)) return {};
  UniqueFd at(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!at) return std::unexpected(Error("open", "/", errno));
  for (std::size_t start = 0; start < path.size();) {
    const std::size_t end = std::min(path.find('/', start + 1), path.size());
    const std::string name = path.substr(start + 1, end - start - 1);
    const std::string here = path.substr(0, end);
    PA_TRY(UniqueFd next, Enter(at, name, here));
    if (start >= ours) {
      PA_TRY_VOID(MakeOurs(next, here));
    }
    at = std::move(next);
    start = end;
  }
  return {};
}

}  // namespace pa
