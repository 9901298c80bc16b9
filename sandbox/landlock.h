// Landlock: denies the file system, the network and signals, and then grants paths one by one.
//
//    LandlockSupport kernel = DetectLandlock();
//    SysResult<UniqueFd> ruleset = CreateRuleset(kernel.abi, Network::kNone);
//    SysResult<void> added = AddPath(ruleset->get(), "/usr", kReadExecute, kernel.abi);
//    if (!added && !IsUnreachable(added.error())) return std::unexpected(added.error());
//    SysResult<void> done = Enforce(ruleset->get());   // needs no_new_privs or CAP_SYS_ADMIN
//
// Not covered by any ABI: chmod, chown, utimes, extended attributes and inotify by path, and
// descriptors that were open before. enforcement.h reports this to the user. Freestanding.
#pragma once

#include <cstdint>

#include "base/sys_error.h"
#include "base/unique_fd.h"
#include "sandbox/values.h"

namespace pa::sandbox {

struct LandlockSupport {
  int abi = 0;        // 0: there is no Landlock
  int sys_errno = 0;  // why: ENOSYS (not built in), EOPNOTSUPP (disabled at boot), EPERM (filtered)
};

// The newest ABI whose rights this kernel accepts, at most landlock::kNewestLandlockAbi. It is
// found by trying, because kernels with backported parts have announced more than they accept. So
// the report is made from what Enforce will do later; nothing is dropped silently afterwards. All
// code asks this function, so that one variable makes a test build behave as on an older kernel
// that is not at hand (PA_LANDLOCK_ABI; only builds with PA_TEST_FAULTS know it).
LandlockSupport DetectLandlock();

struct LandlockRights {
  std::uint64_t fs = 0;
  std::uint64_t net = 0;
  std::uint64_t scoped = 0;
};

// Everything that `abi` can deny: every file system right, both scopes, and the network unless it
// is granted.
LandlockRights HandledRights(int abi, Network network);

// A ruleset that denies HandledRights and grants nothing yet. Close-on-exec. EINVAL if the kernel
// does not know `abi`.
SysResult<UniqueFd> CreateRuleset(int abi, Network network);
// The same for the server, which ends its workers: they are outside, and get its signals.
SysResult<UniqueFd> CreateServerRuleset(int abi, Network network);

// An outer domain for the guardian: a process inside it can signal only processes inside it. ABI 6.
SysResult<UniqueFd> CreateScopeRuleset(int abi);

// Grants `access` on the file that `path` names now (symlinks are followed) and, if it is a
// directory, on everything beneath it. Which errors mean that there is nothing to grant:
// sandbox/unreachable.h.
SysResult<void> AddPath(int ruleset, const char* path, Access access, int abi);
// The same for an open descriptor, for which O_PATH suffices; `path` is for messages.
SysResult<void> AddOpenPath(int ruleset, int fd, const char* path, Access access, int abi);

// Puts the calling thread, and everything that it starts, into the domain. This cannot be undone.
SysResult<void> Enforce(int ruleset);

}  // namespace pa::sandbox
