#include "worker/harden.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/try.h"
#include "sandbox/capabilities.h"
#include "worker/build_kind.h"

namespace pa::worker {
namespace {

// By the system call itself, because libc keeps 32 to 34 to itself and glibc's posix_spawn leaves
// 32 ignored. SIGKILL and SIGSTOP have none to set.
void SetDisposition(int number, void (*disposition)(int)) {
  const struct {
    void (*handler)(int);
    unsigned long flags, restorer, mask;
  } action = {disposition, 0, 0, 0};
  constexpr std::size_t kMaskBytes = 8;
  syscall(SYS_rt_sigaction, number, &action, nullptr, kMaskBytes);
}

// Ignored signals would stay ignored in the command; make and shells do not expect that. Everything
// else that can be blocked is, for the whole life of launcher and guardian; what a guardian wants
// to know of it reads from a descriptor.
SysResult<void> ResetSignals() {
  for (int number = 1; number < NSIG; ++number) SetDisposition(number, SIG_DFL);
  for (const int number : kCancelSignals) SetDisposition(number, SIG_IGN);
  sigset_t set;
  sigfillset(&set);
  for (const int number : kCancelSignals) sigdelset(&set, number);
  return Attempt(sigprocmask(SIG_SETMASK, &set, nullptr), "sigprocmask");
}

// The command can neither trace us nor read our memory, whatever else fails; exec makes the command
// itself dumpable again.
SysResult<void> BecomeUndumpable() {
  return Attempt(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl", "DUMPABLE");
}

}  // namespace

SysResult<void> DropCapabilities() {
  if (!kConfined) return {};
  return sandbox::DropCapabilities();
}

SysResult<void> TakeCancelSignals() {
  sigset_t set;
  sigfillset(&set);
  PA_TRY_VOID(Attempt(sigprocmask(SIG_SETMASK, &set, nullptr), "sigprocmask"));
  for (const int number : kCancelSignals) SetDisposition(number, SIG_DFL);
  return {};
}

bool Harden(Outcome& outcome, Keep keep) {
  return Take(outcome, Step::kSession, [] { return ResetSignals(); }) &&
         Take(outcome, Step::kUndumpable, [] { return BecomeUndumpable(); }) &&
         (keep == Keep::kCapabilities ||
          Take(outcome, Step::kCapabilities, [] { return DropCapabilities(); })) &&
         // Without capabilities, Landlock and seccomp are given only to who can gain no privileges.
         Take(outcome, Step::kNoNewPrivs,
              [] { return Attempt(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl"); });
}

}  // namespace pa::worker
