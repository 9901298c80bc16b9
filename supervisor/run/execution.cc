#include "supervisor/run/execution.h"

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

bool HasNoOverlay(const Execution& execution) {
  return execution.failed_step == worker::Step::kOverlay && !MeansUsedUp(execution.failed_errno);
}

Execution FailedToStart(const Error& error) {
  Execution execution;
  execution.failure = error.Message();
  execution.failed_errno = error.sys_errno;
  return execution;
}

Execution FailedToProtect(const policy::ProtectionFailure& failure) {
  Execution execution = FailedToStart(failure);
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
