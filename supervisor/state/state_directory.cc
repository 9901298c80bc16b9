#include "supervisor/state/state_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>

#include "base/file.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "policy/path.h"
#include "policy/trust_anchors.h"

namespace pa {

std::string StateOf(const std::string& state_home) {
  return state_home.empty() ? "" : policy::ResolvePath(state_home + "/project-actions");
}

std::string PathInState(const std::string& state_home, std::string_view name) {
  return state_home + "/project-actions/" + std::string(name);
}

Result<std::string> FindStateDirectory(const policy::Policy& policy, const std::string& state_home,
                                       std::string_view name) {
  if (state_home.empty()) return std::unexpected(Error("find", "the state directory", ENOENT));
  if (std::ranges::find(kServersDirectories, name) == std::end(kServersDirectories)) {
    return std::unexpected(Error("find", std::string(name), EINVAL));
  }
  const std::string path = PathInState(state_home, name);
  // Once: what is used is what was looked at, should a symlink on the way change.
  std::string resolved = policy::ResolvePath(path);
  if (policy::WhereCommandsWrite(policy, path)) {
    return std::unexpected(Error("commands can write to", path, EPERM));
  }
  return resolved;
}

namespace {

// A new name is synced once, in the life of the directory: what is promised to lie in it must not
// go with it.
Result<void> MakeDirectories(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path();
  if (mkdir(path.c_str(), S_IRWXU) == 0) return SyncPath(parent);
  struct stat status{};
  if (errno == EEXIST && stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return {};
  if (errno != ENOENT || parent == path) return std::unexpected(Error("mkdir", path, errno));
  PA_TRY_VOID(MakeDirectories(parent));
  if (mkdir(path.c_str(), S_IRWXU) == 0) return SyncPath(parent);
  return std::unexpected(Error("mkdir", path, errno));
}

}  // namespace

Result<void> MakeStateDirectory(const std::string& path) {
  PA_TRY_VOID(MakeDirectories(path));
  struct stat status{};
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & 07777) == S_IRWXU) return {};
  // Not by name, which a server that has confined itself cannot do.
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || fchmod(fd.get(), S_IRWXU) != 0) {
    return std::unexpected(Error("chmod", path, errno));
  }
  return {};
}

}  // namespace pa
