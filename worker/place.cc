#include "worker/place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "base/try.h"
#include "worker/open_file.h"

namespace pa::worker {
namespace {

SysResult<UniqueFd> OpenStep(int at, const char* name, bool make) {
  SysResult<Opened> step = OpenBeneath(at, name, O_PATH | O_DIRECTORY);
  if (!step && step.error().sys_errno == ENOENT && make) {
    if (mkdirat(at, name, S_IRWXU | S_IRWXG | S_IRWXO) != 0 && errno != EEXIST) {
      return Failed("mkdir", name);
    }
    step = OpenBeneath(at, name, O_PATH | O_DIRECTORY);
  }
  if (!step) return std::unexpected(step.error());
  return std::move(step->fd);
}

}  // namespace

SysResult<Place> FindPlace(const char* path, bool makes_parents) {
  Place place;
  int at = AT_FDCWD;
  const char* slash = nullptr;
  while ((slash = std::strchr(path, '/')) != nullptr) {
    char name[NAME_MAX + 1] = {};
    const auto length = static_cast<std::size_t>(slash - path);
    if (length >= sizeof name) return Failed("open", path, ENAMETOOLONG);
    std::memcpy(name, path, length);
    SysResult<UniqueFd> step = OpenStep(at, name, makes_parents);
    if (!step) return Failed(step.error().op, path, step.error().sys_errno);
    place.directory = std::move(*step);
    at = place.directory.get();
    path = slash + 1;
  }
  if (!place.directory) {
    PA_TRY(Opened here, OpenBeneath(AT_FDCWD, ".", O_PATH | O_DIRECTORY));
    place.directory = std::move(here.fd);
  }
  place.name = path;
  return place;
}

SysResult<void> SyncDirectory(const Place& place) { return SyncDirectory(place.directory.get()); }

SysResult<void> SyncDirectory(int path) {
  PA_TRY(const Opened directory, OpenBeneath(path, ".", O_RDONLY | O_DIRECTORY));
  if (fsync(directory.fd.get()) != 0) return Failed("fsync", "directory");
  return {};
}

SysResult<void> Sync(const ToSync& directories) {
  for (const UniqueFd* directory : {&directories.first, &directories.second}) {
    if (!*directory) continue;
    PA_TRY_VOID(SyncDirectory(directory->get()));
  }
  return {};
}

}  // namespace pa::worker
