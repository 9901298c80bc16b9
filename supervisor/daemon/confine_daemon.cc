#include "supervisor/daemon/confine_daemon.h"

#include <sys/prctl.h>

#include <cerrno>
#include <cstring>

#include "base/try.h"
#include "sandbox/capabilities.h"
#include "sandbox/landlock.h"
#include "sandbox/prepared.h"
#include "sandbox/rings.h"
#include "sandbox/seccomp_load.h"
#include "supervisor/loop/log.h"

namespace pa {
namespace {

Result<void> EnterLandlock(const std::vector<std::string>& readable) {
  const sandbox::LandlockSupport kernel = sandbox::DetectLandlock();
  if (kernel.abi < 1) {
    LogWarning(std::string("this kernel has no Landlock (") + std::strerror(kernel.sys_errno) +
               "): file permissions alone say what the front door may read");
    return {};
  }
  sandbox::Confinement confinement;
  for (const std::string& path : readable) {
    confinement.paths.push_back({path, sandbox::Access::kRead, "configuration"});
  }
  PA_TRY(const sandbox::PreparedSandbox prepared, sandbox::PrepareLandlock(confinement));
  PA_TRY_VOID(sandbox::Enforce(prepared.landlock_ruleset.get()));
  return {};
}

}  // namespace

Result<void> ConfineDaemon(const std::vector<std::string>& readable) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return std::unexpected(Error("prctl", "no_new_privs", errno));
  }
  PA_TRY_VOID(sandbox::CheckNoRings());
  PA_TRY_VOID(EnterLandlock(readable));
  PA_TRY_VOID(sandbox::DropCapabilities());
  // Last: it refuses what these needed.
  PA_TRY(const sandbox::SeccompProgram program,
         sandbox::CompileSeccomp(sandbox::SeccompProfile::kFrontDoor, sandbox::Network::kNone, 0));
  PA_TRY_VOID(sandbox::LoadSeccomp(*program));
  return {};
}

}  // namespace pa
