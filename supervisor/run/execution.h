// Execution: the result of a command (command_plan.h). A plain value.
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
  // Bytes without what only a terminal understands (escape_filter.h): all of them, or head and
  // tail, and between them a line that says what is left out.
  std::string text;
  std::uint64_t total_bytes = 0;
  std::uint64_t omitted_bytes = 0;  // not in `text`
  std::uint64_t omitted_lines = 0;
  std::uint64_t lost_bytes = 0;  // beyond output_total, or not storable: kept nowhere
  std::string why_lost;          // "": they are beyond output_total
  // Of the full output in the result store, with every byte; "" if `text` is all, or nothing was
  // stored.
  std::string uri;
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
  bool time_limit_is_policys = false;       // it is limits.wall_time, not the call's timeout_ms
  std::string warning = {};                 // for the reader of the result
  bool namespaces = false;                  // the command had a view of its own
  bool read_index = false;          // the file RunOptions::watch_index was opened while it ran
  std::uint32_t strays_killed = 0;  // processes that outlived the command
  std::uint32_t probe_denied = 0;   // action kProbe: as in worker/status.h
  std::uint32_t probe_tried = 0;
  std::vector<ProtectedChange> protected_changes;
  std::vector<SealedPath> sealed;  // empty if the command had no view of its own
  // Of kSetupFailed: nothing ran, or the worker itself failed and the command ended with it.
  std::string failure;  // `landlock_restrict_self: EPERM`
  // Set if `failure` is about protected paths.
  std::optional<policy::ProtectionFailure::Kind> not_protected;
  bool never_began = false;  // the worker was killed before it could begin: try again
  worker::Step failed_step = worker::Step::kNone;
  int failed_errno = 0;
  // Why the file that it would have written is protected; nothing ran. "" otherwise.
  std::string protection;
  bool busy = false;  // nothing ran, because the queue was full

  void Warn(std::string_view more) {
    if (!warning.empty() && !more.empty()) warning += "; ";
    warning += more;
  }
};

// Whether nothing ran because this kernel makes no copy of a directory here (MountKind::kOverlay),
// now and later.
bool HasNoOverlay(const Execution& execution);

// Whether nothing ran because CommandPlan::file is not, or cannot be shown to be, the one that the
// plan was made by.
bool IsOutdated(const Execution& execution);

// The results of commands that did not run: because of `error`; because protected paths could not
// be protected; because nobody waits for the result any more; because the queue was full.
Execution FailedToStart(const Error& error);
Execution FailedToProtect(const policy::ProtectionFailure& failure);
Execution CancelledBeforeStart();
Execution QueueIsFull();

}  // namespace pa
