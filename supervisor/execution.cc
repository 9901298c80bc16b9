#include "supervisor/execution.h"

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

void OutputGate::Open() {
  closed_ = false;
  // A callback may close the gate and wait again: that is for the next time.
  for (auto& callback : std::exchange(waiting_, {})) callback();
}

}  // namespace pa
