// Outcome: how a command ended.
#pragma once

namespace pa {

enum class Outcome { kExited, kSignaled, kTimedOut, kCancelled, kLimitExceeded, kSetupFailed };
// "exited", "signaled", "timed_out", ... as in the contract.
const char* OutcomeName(Outcome outcome);

}  // namespace pa
