#include "worker/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "sandbox/landlock.h"
#include "sandbox/rlimits.h"
#include "sandbox/seccomp_load.h"
#include "worker/build_kind.h"
#include "worker/create_file.h"
#include "worker/probe.h"
#include "worker/process_tree.h"

namespace pa::worker {
namespace {

SysResult<void> Attempt(long result, const char* op, std::string_view subject = {}) {
  if (result < 0) return std::unexpected(SysError{op, subject, errno});
  return {};
}

// A session of its own, so that no terminal controls the command and `kill 0` stays among its own;
// and it dies with the guardian, should somebody kill that.
SysResult<void> StartAlone(const ChildOrder& order) {
  if (auto done = Attempt(setsid(), "setsid"); !done) return done;
  if (auto done = Attempt(prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl", "PDEATHSIG"); !done)
    return done;
  // The guardian may have died before it could count.
  if (getppid() != order.guardian) return std::unexpected(SysError{"guardian is gone", {}, ESRCH});
  const std::uint64_t mask = order.spec->umask;
  if (mask != kUmaskOfUser) umask(static_cast<mode_t>(mask));
  sigset_t none;
  sigemptyset(&none);
  return Attempt(sigprocmask(SIG_SETMASK, &none, nullptr), "sigprocmask");
}

// By descriptor: whatever happened to the name since the supervisor checked it leads nowhere else.
SysResult<void> EnterWorkingDirectory(const ChildOrder& order) {
  const char* path = order.spec->working_directory;
  if (order.by_hand) return Attempt(chdir(path[0] != '\0' ? path : "."), "chdir", path);
  return Attempt(fchdir(kCwdFd), "fchdir", path);
}

SysResult<void> ApplyLimits(const sandbox::ResourceLimits& limits) {
  if (!kConfined) return {};
  const std::uint64_t threads = limits.processes != 0 ? CountThreads() : 0;
  if (limits.processes != 0 && threads == 0) {
    return std::unexpected(SysError{"read", "/proc/loadavg", ENOENT});
  }
  return sandbox::ApplyLimits(limits, threads);
}

// Landlock from the paths in the spec. A path that is not there is skipped: nothing is lost by
// that.
SysResult<void> EnforcePaths(const SpecView& spec, int abi) {
  const SysResult<UniqueFd> ruleset = sandbox::CreateRuleset(abi, spec.network);
  if (!ruleset) return std::unexpected(ruleset.error());
  for (const GrantView& grant : spec.paths) {
    const auto added = sandbox::AddPath(ruleset->get(), grant.path, grant.access, abi);
    if (!added && !sandbox::IsUnreachable(added.error())) return added;
  }
  return sandbox::Enforce(ruleset->get());
}

// Never without: a kernel that has no Landlock runs nothing.
SysResult<void> EnterLandlock(const ChildOrder& order) {
  if (!kConfined) return {};
  if (order.landlock_abi < 1) return std::unexpected(SysError{"landlock", "not available", ENOSYS});
  if (order.spec->has_ruleset_fd) return sandbox::Enforce(kRulesetFd);
  return EnforcePaths(*order.spec, order.landlock_abi);
}

SysResult<void> CloseAllButStandard() {
  return Attempt(syscall(SYS_close_range, 3u, ~0u, 0u), "close_range");
}

SysResult<void> LoadSeccomp(const ChildOrder& order) {
  if (!kConfined || order.seccomp_loaded) return {};
  return sandbox::LoadSeccomp(order.spec->seccomp_program);
}

SysResult<void> Execute(const SpecView& spec) {
  execve(spec.executable, spec.argv.items, spec.env.items);
  return std::unexpected(SysError{"execve", spec.executable, errno});
}

bool Act(const ChildOrder& order) {
  const SpecView& spec = *order.spec;
  Outcome& outcome = *order.outcome;
  switch (spec.action) {
    case Action::kExecute:
      return Take(outcome, Step::kExecute, [&] { return Execute(spec); });
    case Action::kCreateFile:
      return Take(outcome, Step::kCreateFile, [&] { return CreateFile(spec.create_path); });
    case Action::kProbe:
      return Take(outcome, Step::kProbe, [&] {
        Probe({spec.create_path, spec.network, order.landlock_abi, order.supervisor}, outcome);
        return SysResult<void>();
      });
  }
  return false;
}

}  // namespace

int RunChild(void* argument) {
  const ChildOrder& order = *static_cast<const ChildOrder*>(argument);
  Outcome& outcome = *order.outcome;
  const bool done =
      // Before anything can be started that would have to be found again.
      Take(outcome, Step::kSession, [&] { return StartAlone(order); }) &&
      // While names still mean what they mean outside.
      Take(outcome, Step::kWorkingDirectory, [&] { return EnterWorkingDirectory(order); }) &&
      // Tier 1 enters its namespaces at this place (Step::kNamespaces): its mounts need what the
      // steps below take away.
      //
      // Needs /proc, which Landlock may hide.
      Take(outcome, Step::kLimits, [&] { return ApplyLimits(order.spec->limits); }) &&
      Take(outcome, Step::kLandlock, [&] { return EnterLandlock(order); }) &&
      // The ruleset and the working directory have been used; an inherited descriptor would pass by
      // Landlock.
      Take(outcome, Step::kCloseDescriptors, [] { return CloseAllButStandard(); }) &&
      // Last, because it may refuse what the steps before it needed; unless the launcher has it already.
      Take(outcome, Step::kSeccomp, [&] { return LoadSeccomp(order); }) &&  //
      Act(order);
  return done ? 0 : kExitSetupFailed;
}

}  // namespace pa::worker
