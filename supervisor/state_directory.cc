#include "supervisor/state_directory.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "policy/grants.h"
#include "policy/path.h"

namespace pa {

Result<std::string> FindStateDirectory(const policy::Policy& policy, const std::string& state_home,
                                       std::string_view name) {
  if (state_home.empty()) return std::unexpected(Error("find", "the state directory", ENOENT));
  const std::string path = state_home + "/project-actions/" + std::string(name);
  // Once: what is used is what was looked at, should a symlink on the way change.
  std::string resolved = policy::ResolvePath(path);
  if (policy::CommandsCanWrite(policy, path) || policy::CommandsCanWrite(policy, resolved)) {
    return std::unexpected(Error("commands can write to", path, EPERM));
  }
  return resolved;
}

Result<void> MakeStateDirectory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return std::unexpected(Error("mkdir", path, error.value()));
  if (chmod(path.c_str(), S_IRWXU) != 0) return std::unexpected(Error("chmod", path, errno));
  return {};
}

}  // namespace pa
