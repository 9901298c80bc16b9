#include "worker/reporter.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "worker/probe.h"
#include "worker/protocol.h"

namespace pa::worker {
namespace {

void PrintProbe(const WorkerStatus& status) {
  for (unsigned n = 0; n < kProbeCount; ++n) {
    if ((status.probe_tried >> n & 1) == 0) continue;
    const char* answer = (status.probe_denied >> n & 1) != 0 ? "denied " : "ALLOWED";
    dprintf(STDERR_FILENO, "worker: %s %s\n", answer, kProbeNames[n]);
  }
}

void PrintReason(const WorkerStatus& status) {
  switch (status.reason) {
    case EndReason::kExited:
      dprintf(STDERR_FILENO, "exited %d", status.exit_code);
      break;
    case EndReason::kSignaled:
      dprintf(STDERR_FILENO, "signal %d", status.term_signal);
      break;
    case EndReason::kTimedOut:
      dprintf(STDERR_FILENO, "timed out");
      break;
    case EndReason::kCancelled:
      dprintf(STDERR_FILENO, "cancelled");
      break;
    case EndReason::kLimitExceeded:
      dprintf(STDERR_FILENO, "limit exceeded: %s", LimitName(status.limit));
      break;
  }
}

}  // namespace

bool Reporter::Send(const WorkerStatus& status) const {
  ssize_t sent = -1;
  do {
    sent = send(control_fd_, &status, sizeof(status), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent >= 0;
}

void Reporter::SetupFailed(const Outcome& outcome) const {
  WorkerStatus status{
      .kind = StatusKind::kSetupFailed, .step = outcome.step, .sys_errno = outcome.sys_errno};
  std::memcpy(status.subject, outcome.subject, sizeof(status.subject));
  if (control_fd_ >= 0 && Send(status)) return;
  dprintf(STDERR_FILENO, "worker: failed at step '%s': %s: %s\n", StepName(outcome.step),
          outcome.subject, std::strerror(outcome.sys_errno));
}

void Reporter::Ended(const WorkerStatus& status) const {
  if (control_fd_ >= 0) {
    Send(status);
    return;
  }
  PrintProbe(status);
  dprintf(STDERR_FILENO, "worker: ");
  PrintReason(status);
  dprintf(STDERR_FILENO, " after %llu ms, %u left behind and ended\n",
          static_cast<unsigned long long>(status.wall_us / 1000), status.strays_killed);
}

int ExitCode(const WorkerStatus& status) {
  switch (status.reason) {
    case EndReason::kExited:
      return status.exit_code;
    case EndReason::kSignaled:
      return 128 + status.term_signal;
    case EndReason::kTimedOut:
      return kExitTimedOut;
    case EndReason::kCancelled:
      return 130;
    case EndReason::kLimitExceeded:
      return kExitSetupFailed;
  }
  return kExitSetupFailed;
}

}  // namespace pa::worker
