#include "worker/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/try.h"
#include "base/unique_fd.h"
#include "sandbox/landlock.h"
#include "sandbox/rlimits.h"
#include "sandbox/seccomp_load.h"
#include "sandbox/unreachable.h"
#include "worker/build_kind.h"
#include "worker/check_file.h"
#include "worker/delete_file.h"
#include "worker/probe.h"
#include "worker/process_tree.h"
#include "worker/read_file.h"
#include "worker/write_file.h"

namespace pa::worker {
namespace {

// A session of its own, so that no terminal controls the command and `kill 0` stays among its own;
// and it dies with the guardian, should somebody kill that.
SysResult<void> StartAlone(const ChildOrder& order) {
  PA_TRY_VOID(Attempt(setsid(), "setsid"));
  PA_TRY_VOID(Attempt(prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl", "PDEATHSIG"));
  // The guardian may have died before it could count.
  if (getppid() != order.guardian) return std::unexpected(SysError{"guardian is gone", {}, ESRCH});
  const std::uint64_t mask = order.spec->umask;
  if (mask != kUmaskOfUser) umask(static_cast<mode_t>(mask));
  sigset_t none;
  sigemptyset(&none);
  return Attempt(sigprocmask(SIG_SETMASK, &none, nullptr), "sigprocmask");
}

// The descriptor is of a mount outside, from which `..` would lead on outside. So by name, in the
// view; what stands there must be what the descriptor holds.
SysResult<void> EnterDirectoryOfView(const char* path) {
  struct stat wanted;
  struct stat found;
  if (chdir(path) != 0) return std::unexpected(SysError{"chdir", path, errno});
  if (fstat(kCwdFd, &wanted) != 0 || stat(".", &found) != 0) {
    return std::unexpected(SysError{"stat", path, errno});
  }
  if (wanted.st_dev == found.st_dev && wanted.st_ino == found.st_ino) return {};
  return std::unexpected(SysError{"chdir", path, ESTALE});
}

// By descriptor: whatever happened to the name since the supervisor checked it leads nowhere else.
SysResult<void> EnterWorkingDirectory(const ChildOrder& order) {
  const char* path = order.spec->working_directory;
  if (order.by_hand) return Attempt(chdir(path[0] != '\0' ? path : "."), "chdir", path);
  if (order.namespaces) return EnterDirectoryOfView(path);
  return Attempt(fchdir(kCwdFd), "fchdir", path);
}

// Where the user namespace is our own, the guardian and we are all that the user has in it. A
// little more, so that the guardian can see a command that exceeds its limit, end it and say so,
// instead of one that tries to fork for ever.
std::uint64_t PresentThreads(const ChildOrder& order) {
  constexpr std::uint64_t kToBeSeen = 16;
  const bool alone = order.namespaces && geteuid() != 0;
  return alone ? 1 + kToBeSeen : CountThreads();
}

SysResult<void> ApplyLimits(const ChildOrder& order) {
  if (!kConfined) return {};
  const sandbox::ResourceLimits& limits = order.spec->limits;
  const std::uint64_t threads = limits.processes != 0 ? PresentThreads(order) : 0;
  if (limits.processes != 0 && threads == 0) {
    return std::unexpected(SysError{"read", "/proc/loadavg", ENOENT});
  }
  return sandbox::ApplyLimits(limits, threads);
}

// A ruleset names files, and what is mounted in our own view was none yet when it was made.
SysResult<void> GrantOwnMounts(const ChildOrder& order, int ruleset) {
  using sandbox::Access;
  if (!order.namespaces) return {};
  PA_TRY_VOID(sandbox::AddPath(ruleset, "/proc", Access::kRead, order.landlock_abi));
  for (const sandbox::MountView& mount : order.spec->mounts) {
    if (mount.kind != sandbox::MountKind::kOverlay) continue;
    PA_TRY_VOID(
        sandbox::AddPath(ruleset, mount.target, sandbox::kReadWriteExecute, order.landlock_abi));
  }
  if (!order.has_pts || order.spec->action != Action::kExecute) return {};
  constexpr Access kTerminal = Access::kRead | Access::kWrite | Access::kDevice;
  return sandbox::AddPath(ruleset, "/dev/pts", kTerminal, order.landlock_abi);
}

// Landlock from the paths in the spec. A path that is not there is skipped: nothing is lost by
// that.
SysResult<void> EnforcePaths(const ChildOrder& order) {
  const SpecView& spec = *order.spec;
  const int abi = order.landlock_abi;
  PA_TRY(const UniqueFd ruleset, sandbox::CreateRuleset(abi, spec.network));
  for (const GrantView& grant : spec.paths) {
    const auto added = sandbox::AddPath(ruleset.get(), grant.path, grant.access, abi);
    if (!added && !sandbox::IsUnreachable(added.error())) return added;
  }
  PA_TRY_VOID(GrantOwnMounts(order, ruleset.get()));
  return sandbox::Enforce(ruleset.get());
}

// Never without: a kernel that has no Landlock runs nothing.
SysResult<void> EnterLandlock(const ChildOrder& order) {
  if (!kConfined) return {};
  if (order.landlock_abi < 1) {
    const int why = sandbox::DetectLandlock().sys_errno;  // not built in, or switched off
    return std::unexpected(SysError{"landlock_create_ruleset", {}, why});
  }
  if (order.spec->has_ruleset_fd) {
    PA_TRY_VOID(GrantOwnMounts(order, kRulesetFd));
    return sandbox::Enforce(kRulesetFd);
  }
  return EnforcePaths(order);
}

SysResult<void> CloseAllButStandard() {
  return Attempt(syscall(SYS_close_range, 3u, ~0u, 0u), "close_range");
}

SysResult<void> CloseAllButControl(const ChildOrder& order) {
  if (order.by_hand) return CloseAllButStandard();
  static_assert(kControlFd == 4);
  const long below = syscall(SYS_close_range, 3u, 3u, 0u);
  return Attempt(below < 0 ? below : syscall(SYS_close_range, 5u, ~0u, 0u), "close_range");
}

SysResult<void> LoadSeccomp(const ChildOrder& order) {
  if (!kConfined || order.seccomp_loaded) return {};
  return sandbox::LoadSeccomp(order.spec->seccomp_program);
}

SysResult<void> Execute(const SpecView& spec) {
  execve(spec.executable, spec.argv.items, spec.env.items);
  return std::unexpected(SysError{"execve", spec.executable, errno});
}

// Where the command was planned by a file.
bool TakeCheck(Outcome& outcome, const SpecView& spec) {
  return spec.file_digest.empty() ||
         Take(outcome, Step::kCheckFile, [&] { return CheckFile(spec.file, spec.file_digest); });
}

// Where there is something to sync.
bool TakeSync(Outcome& outcome, const ToSync& to_sync) {
  return !to_sync.first || Take(outcome, Step::kSyncFile, [&] { return Sync(to_sync); });
}

bool Act(const ChildOrder& order) {
  const SpecView& spec = *order.spec;
  Outcome& outcome = *order.outcome;
  ToSync to_sync;
  switch (spec.action) {
    case Action::kExecute:
      return TakeCheck(outcome, spec) &&
             Take(outcome, Step::kExecute, [&] { return Execute(spec); });
    case Action::kProbe:
      return Take(outcome, Step::kProbe, [&] {
        Probe({.canary = spec.file,
               .network = spec.network,
               .landlock_abi = order.landlock_abi,
               .outsider = order.supervisor,
               .namespaces = order.namespaces},
              outcome);
        return SysResult<void>();
      });
    case Action::kReadFile:
      return Take(outcome, Step::kReadFile, [&] { return ReadFile(spec.file, spec.read_bytes); });
    case Action::kWriteFile:
      return Take(outcome, Step::kWriteFile, [&] { return WriteFile(spec.file, to_sync); }) &&
             TakeSync(outcome, to_sync);
    case Action::kRemoveTemp:
      return Take(outcome, Step::kRemoveTemp, [&] { return RemoveTemp(spec.file); });
    case Action::kDeleteFile:
      return Take(outcome, Step::kDeleteFile, [&] { return DeleteFile(spec.file, to_sync); }) &&
             TakeSync(outcome, to_sync);
  }
  return false;
}

}  // namespace

// The steps of a child that have a meaning here, in the same order.
bool RunAlone(const ChildOrder& order) {
  Outcome& outcome = *order.outcome;
  return Take(outcome, Step::kWorkingDirectory, [&] { return EnterWorkingDirectory(order); }) &&
         Take(outcome, Step::kLimits, [&] { return ApplyLimits(order); }) &&
         Take(outcome, Step::kLandlock, [&] { return EnterLandlock(order); }) &&
         Take(outcome, Step::kCloseDescriptors, [&] { return CloseAllButControl(order); }) &&
         Take(outcome, Step::kSeccomp, [&] { return LoadSeccomp(order); }) &&  //
         Act(order);
}

int RunChild(void* argument) {
  const ChildOrder& order = *static_cast<const ChildOrder*>(argument);
  Outcome& outcome = *order.outcome;
  const bool done =
      // Before anything can be started that would have to be found again.
      Take(outcome, Step::kSession, [&] { return StartAlone(order); }) &&
      // While all names can still be walked.
      Take(outcome, Step::kWorkingDirectory, [&] { return EnterWorkingDirectory(order); }) &&
      // Needs /proc, which Landlock may hide.
      Take(outcome, Step::kLimits, [&] { return ApplyLimits(order); }) &&
      Take(outcome, Step::kLandlock, [&] { return EnterLandlock(order); }) &&
      // The ruleset and the working directory have been used; an inherited descriptor would pass by
      // Landlock.
      Take(outcome, Step::kCloseDescriptors, [] { return CloseAllButStandard(); }) &&
      // Last, because it may refuse what the steps before it needed; unless the launcher has it
      // already.
      Take(outcome, Step::kSeccomp, [&] { return LoadSeccomp(order); }) &&  //
      Act(order);
  return done ? 0 : kExitSetupFailed;
}

}  // namespace pa::worker
