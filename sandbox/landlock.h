// Landlock: deny the file system, the network and signals, then grant paths one by one.
//
//   LandlockSupport kernel = ProbeLandlock();
//   SysResult<UniqueFd> ruleset = CreateRuleset(kernel.abi, Network::kNone);
//   SysResult<void> added = AddPath(ruleset->get(), "/usr", kReadExecute, kernel.abi);
//   if (!added && !IsUnreachable(added.error())) return std::unexpected(added.error());
//   SysResult<void> done = Enforce(ruleset->get());   // needs no_new_privs or CAP_SYS_ADMIN
//
// Not covered on any ABI: chmod, chown, utimes, extended attributes and inotify by path, and
// descriptors that were open before. enforcement.h says so to the user. Freestanding.
#pragma once

#include <cstdint>

#include "base/sys_error.h"
#include "base/unique_fd.h"
#include "sandbox/values.h"

namespace pa::sandbox {

struct LandlockSupport {
  int abi = 0;        // 0: none
  int sys_errno = 0;  // why: ENOSYS (not built in), EOPNOTSUPP (disabled at boot), EPERM (filtered)
};

// The newest ABI whose rights this kernel accepts, at most landlock::kNewestLandlockAbi. It tries,
// because kernels with backported parts have announced more than they accept. So what Enforce does
// later is what the report was made from; nothing is dropped silently afterwards. Everybody asks
// here, so that one variable makes a test build as old as a kernel that is not at hand
// (PA_LANDLOCK_ABI; builds with PA_TEST_FAULTS know it and no others).
LandlockSupport ProbeLandlock();

struct LandlockRights {
  std::uint64_t fs = 0;
  std::uint64_t net = 0;
  std::uint64_t scoped = 0;
};

// All that `abi` can deny: every file system right, both scopes, and the network unless it is
// granted.
LandlockRights HandledRights(int abi, Network network);

// A ruleset that denies HandledRights and grants nothing yet. Close-on-exec. EINVAL if the kernel
// does not know `abi`.
SysResult<UniqueFd> CreateRuleset(int abi, Network network);

// An outer domain for the guardian: whoever is inside may signal only what is inside. ABI 6.
SysResult<UniqueFd> CreateScopeRuleset(int abi);

// Grants `access` on what `path` names now (symlinks are followed) and, if it is a directory,
// beneath it.
SysResult<void> AddPath(int ruleset, const char* path, Access access, int abi);
// The same for an open descriptor (O_PATH will do); `path` is for messages.
SysResult<void> AddOpenPath(int ruleset, int fd, const char* path, Access access, int abi);

// True if AddPath failed because there is nothing at that path that we could reach. Then the
// command cannot reach it either, and callers skip it.
bool IsUnreachable(const SysError& error);

// Puts the calling thread, and all that it will start, into the domain. For good.
SysResult<void> Enforce(int ruleset);

}  // namespace pa::sandbox
