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

}  // namespace pa
