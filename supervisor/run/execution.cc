#include "supervisor/run/execution.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace pa {

const char* OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kExited:
      return "exited";
    case Outcome::kSignaled:
      return "signaled";
    case Outcome::kTimedOut:
      return "timed_out";
    case Outcome::kCancelled:
      return "cancelled";
    case Outcome::kLimitExceeded:
      return "limit_exceeded";
    case Outcome::kSetupFailed:
      return "setup_failed";
  }
  return "setup_failed";
}

// Of the errors of fsopen(2), fsconfig(2), fsmount(2) and move_mount(2) those that say so, and none
// with which a path cannot be opened. 0: there are no namespaces.
bool HasNoOverlay(const Execution& execution) {
  constexpr int kErrors[] = {0, ENODEV, EINVAL, EPERM, EOPNOTSUPP, ENOSYS};
  return execution.failed_step == worker::Step::kOverlay &&
         std::ranges::find(kErrors, execution.failed_errno) != std::end(kErrors);
}

bool IsOutdated(const Execution& execution) {
  return execution.failed_step == worker::Step::kCheckFile;
}

Execution FailedToStart(const Error& error) {
  Execution execution;
  execution.failure = error.Message();
  execution.failed_errno = error.sys_errno;
  return execution;
}

Execution FailedToProtect(const policy::ProtectionFailure& failure) {
  Execution execution = FailedToStart(failure);
  if (failure.kind == policy::ProtectionFailure::Kind::kMoved) return execution;
  execution.not_protected = failure.kind;
  if (failure.kind == policy::ProtectionFailure::Kind::kWithin) execution.failure = failure.subject;
  return execution;
}

Execution CancelledBeforeStart() {
  Execution execution;
  execution.outcome = Outcome::kCancelled;
  return execution;
}

Execution QueueIsFull() {
  Execution execution;
  execution.busy = true;
  execution.failure = "the queue is full";
  return execution;
}

}  // namespace pa
