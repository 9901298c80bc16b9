// Execution: what came of a command (command_plan.h). A plain value.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "policy/protection.h"
#include "supervisor/guard/protected_change.h"
#include "supervisor/run/outcome.h"
#include "worker/spec.h"
#include "worker/status.h"

namespace pa {

// One stream of a finished command.
struct Captured {
  std::string
      text;  // raw bytes: all, or head and tail with a line between that says what is left out
  std::uint64_t total_bytes = 0;
  std::uint64_t omitted_bytes = 0;  // not in `text`
  std::uint64_t omitted_lines = 0;
  std::uint64_t lost_bytes = 0;  // beyond output_total: nowhere
  std::string uri;               // of the full text in the result store; "" when `text` is all
};

struct Execution {
  bool Succeeded() const { return outcome == Outcome::kExited && exit_code == 0; }

  Outcome outcome = Outcome::kSetupFailed;
  int exit_code = -1;  // kExited
  int signal = 0;      // kSignaled
  worker::Limit limit = worker::Limit::kNone;
  Captured out;
  Captured err;
  std::chrono::system_clock::time_point started = {};
  std::chrono::microseconds duration{0};
  std::chrono::milliseconds time_limit{0};  // kTimedOut
  bool time_limit_is_policys = false;       // limits.wall_time, not the call's timeout_ms
  std::string warning = {};                 // for whoever reads the result
  bool namespaces = false;                  // it had its own view
  std::uint32_t strays_killed = 0;          // processes that outlived the command
  std::uint32_t probe_denied = 0;           // action kProbe: as in worker/status.h
  std::uint32_t probe_tried = 0;
  std::vector<ProtectedChange> protected_changes;
  std::vector<SealedPath> sealed;  // none without a view of its own
  // kSetupFailed: nothing ran, or the worker itself ended and took the command with it.
  std::string failure;                                           // `landlock_restrict_self: EPERM`
  std::optional<policy::ProtectionFailure::Kind> not_protected;  // it is about protected paths
  bool never_began = false;  // its worker was killed before it could begin: it can be run again
  worker::Step failed_step = worker::Step::kNone;
  int failed_errno = 0;
  std::string protection;  // nothing ran, because what it would have written is protected: by this
  bool busy =
      false;  // the queue was full; kSetupFailed otherwise means INTERNAL or SANDBOX_UNAVAILABLE

  void Warn(std::string_view more) {
    if (!warning.empty() && !more.empty()) warning += "; ";
    warning += more;
  }
};

// Of commands that did not run: for the reason that `error` gives; because nobody waits for it any
// more; for want of a place in the queue.
Execution FailedToStart(const Error& error);
Execution FailedToProtect(const policy::ProtectionFailure& failure);
Execution CancelledBeforeStart();
Execution QueueIsFull();

}  // namespace pa
