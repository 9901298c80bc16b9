#include "sandbox/prepared.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/proc_path.h"
#include "base/try.h"
#include "sandbox/landlock.h"
#include "sandbox/unreachable.h"

namespace pa::sandbox {
namespace {

// Asked of what has been opened, so that nothing can change in between.
bool IsReachedThroughSymlink(int fd, const std::string& path) {
  std::error_code error;
  const std::string link = ProcPath(fd);
  return std::filesystem::read_symlink(link, error).string() != path;
}

// One grant; what it names is opened once, so that the identity is that of the very file granted.
Result<PathIdentity> Grant(int ruleset, const PathGrant& grant, int landlock_abi) {
  const UniqueFd fd(open(grant.path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd) {
    const SysError error{"open", grant.path, errno};
    if (IsUnreachable(error)) return PathIdentity{};
    return std::unexpected(Error(error));
  }
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return std::unexpected(Error("fstat", grant.path, errno));
  // Removed since: its name in /proc is another one then.
  if (status.st_nlink == 0) return PathIdentity{};
  if (grant.symlinks == Symlinks::kRefuse && IsReachedThroughSymlink(fd.get(), grant.path)) {
    return std::unexpected(Error("grant", grant.path, ELOOP));
  }
  if (ruleset >= 0) {
    SysResult<void> added =
        AddOpenPath(ruleset, fd.get(), grant.path.c_str(), grant.access, landlock_abi);
    if (!added) return std::unexpected(Error(added.error()));
  }
  return PathIdentity{status.st_dev, status.st_ino};
}

}  // namespace

// The ruleset holds a reference on each inode that it names, so a number cannot be given to another
// file while the ruleset lives: equal numbers mean the same file.
bool PreparedSandbox::StillValid(std::chrono::steady_clock::time_point now) {
  const bool all = now - looked_at >= std::chrono::seconds(1);
  for (std::size_t i = 0; i < identities.size(); ++i) {
    if (!all && confinement.paths[i].replaced == Replaced::kRarely) continue;
    struct stat status;
    PathIdentity present;
    if (stat(confinement.paths[i].path.c_str(), &status) == 0) {
      present = {status.st_dev, status.st_ino};
    }
    if (present != identities[i]) return false;
  }
  if (all) looked_at = now;
  return true;
}

Result<PreparedSandbox> PrepareLandlock(const Confinement& confinement) {
  return PrepareLandlock(confinement, DetectLandlock().abi);
}

Result<PreparedSandbox> PrepareLandlock(const Confinement& confinement, int landlock_abi) {
  PreparedSandbox prepared{.confinement = confinement, .landlock_abi = landlock_abi};
  if (landlock_abi > 0) {
    SysResult<UniqueFd> ruleset = CreateRuleset(landlock_abi, confinement.network);
    if (!ruleset) return std::unexpected(Error(ruleset.error()));
    prepared.landlock_ruleset = *std::move(ruleset);
  }
  for (const PathGrant& grant : confinement.paths) {
    PA_TRY(PathIdentity identity, Grant(prepared.landlock_ruleset.get(), grant, landlock_abi));
    prepared.identities.push_back(identity);
  }
  return prepared;
}

}  // namespace pa::sandbox
