// Outcome: how a command ended.
#pragma once

namespace pa {

enum class Outcome { kExited, kSignaled, kTimedOut, kCancelled, kLimitExceeded, kSetupFailed };
const char* OutcomeName(
    Outcome outcome);  // "exited", "signaled", "timed_out", ... as in the contract

}  // namespace pa
