#include "supervisor/run/worker_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/packet.h"

namespace pa {
namespace {

using worker::EndReason;
using worker::StatusKind;
using worker::WorkerStatus;

bool KnownReason(EndReason reason) {
  return reason >= EndReason::kExited && reason <= EndReason::kLimitExceeded;
}

Outcome ToOutcome(EndReason reason) {
  switch (reason) {
    case EndReason::kExited:
      return Outcome::kExited;
    case EndReason::kSignaled:
      return Outcome::kSignaled;
    case EndReason::kTimedOut:
      return Outcome::kTimedOut;
    case EndReason::kCancelled:
      return Outcome::kCancelled;
    case EndReason::kLimitExceeded:
      return Outcome::kLimitExceeded;
  }
  return Outcome::kSetupFailed;
}

// A command that failed for want of what the policy limits has not failed by itself.
void Name(worker::Limit limit, Execution& execution) {
  if (limit == worker::Limit::kNone) return;
  execution.outcome = Outcome::kLimitExceeded;
  execution.limit = limit;
  execution.warning.clear();
  execution.failure.clear();
}

}  // namespace

WorkerProcess::~WorkerProcess() {
  if (reaped_) return;
  // The hang-up lets the guardian end its tree; the signal would leave that to nobody.
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, worker_.pid, 0)));
  worker_.control.reset();
  pollfd dead{pidfd.get(), POLLIN, 0};
  poll(&dead, 1, 2000);
  Kill(false);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(worker_.pid), &info, WEXITED);
}

bool WorkerProcess::ReadControl() {
  for (;;) {
    struct {
      WorkerStatus packet;
      char beyond;  // shows a packet that is too long
    } buffer;
    // It may have ended without reading our cancel.
    const ReceivedPacket got = ReceiveWaitingPacket(worker_.control.get(), AsWritableBytes(buffer));
    if (got.size < 0) return errno == EAGAIN;
    if (got.size == 0) return false;
    std::vector<UniqueFd> descriptors;
    for (std::size_t i = 0; i < got.count; ++i) descriptors.emplace_back(got.descriptors[i]);
    if (broken()) continue;
    const bool status =
        got.size == sizeof buffer.packet && buffer.packet.magic == worker::kStatusMagic;
    // A descriptor that we cannot have, for want of descriptors, is not the guardian's fault.
    const bool whole = !got.cut || (status && buffer.packet.kind == StatusKind::kGiven);
    if (!status || !whole || got.count > 1) {
      Break("a packet of " + std::to_string(got.size) + " bytes that is no status");
    } else {
      OnPacket(buffer.packet, descriptors.empty() ? UniqueFd() : std::move(descriptors.front()));
    }
  }
}

// One packet, of a kind that the protocol has; anything else means that we do not know what runs.
void WorkerProcess::OnPacket(const WorkerStatus& packet, UniqueFd descriptor) {
  const bool running = state_ == State::kRunning;
  if (packet.kind == StatusKind::kGiven && running && asked_ > 0) {
    --asked_;
    const int code = packet.sys_errno != 0 ? packet.sys_errno : EMFILE;
    given_.push_back(descriptor ? Result<UniqueFd>(std::move(descriptor))
                                : std::unexpected(Error("ask", "the command's network", code)));
    return;
  }
  if (descriptor) return Break("a descriptor that was not asked for");
  if (packet.kind == StatusKind::kSetupFailed && running) {
    state_ = State::kSetupFailed;
  } else if (packet.kind == StatusKind::kEnded && running && KnownReason(packet.reason)) {
    state_ = State::kEnded;
  } else {
    return Break("status " + std::to_string(static_cast<unsigned>(packet.kind)) + " out of order");
  }
  status_ = packet;
  status_.subject[sizeof status_.subject - 1] = '\0';
}

void WorkerProcess::Break(std::string why) {
  state_ = State::kBroken;
  broken_why_ = std::move(why);
}

bool WorkerProcess::Reap() {
  if (reaped_) return true;
  siginfo_t info{};
  const int code = waitid(P_PID, static_cast<id_t>(worker_.pid), &info, WEXITED | WNOHANG);
  if (code == 0 && info.si_pid == 0) return false;
  reaped_ = true;  // also when somebody else has waited for it (ECHILD)
  wait_code_ = info.si_code;
  wait_status_ = info.si_status;
  ReadControl();
  return true;
}

pid_t WorkerProcess::Release() {
  reaped_ = true;
  return worker_.pid;
}

bool WorkerProcess::Ask(const worker::AskOrder& order) {
  if (state_ != State::kRunning || cancelled_) return false;
  const bool sent = send(worker_.control.get(), &order, sizeof order,
                         MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof order;
  if (sent) ++asked_;
  return sent;
}

std::optional<Result<UniqueFd>> WorkerProcess::TakeGiven() {
  if (given_.empty()) return std::nullopt;
  Result<UniqueFd> given = std::move(given_.front());
  given_.pop_front();
  return given;
}

void WorkerProcess::Cancel() {
  if (std::exchange(cancelled_, true)) return;
  // A worker that is just gone needs no cancel.
  const worker::AskOrder cancel;
  (void)send(worker_.control.get(), &cancel, sizeof cancel, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void WorkerProcess::HangUp() {
  cancelled_ = true;
  shutdown(worker_.control.get(), SHUT_WR);
}

void WorkerProcess::Kill(bool late) {
  late_ = late_ || late;
  killed_ = true;
  KillHungUp();
}

void WorkerProcess::KillHungUp() {
  // Not reaped, so the number is still its own.
  if (!reaped_) kill(worker_.pid, SIGKILL);
  if (worker_.group) (void)worker_.group->cgroup().Kill();
}

void WorkerProcess::Exceed(worker::Limit limit) {
  exceeded_ = limit;
  Kill(false);
}

std::optional<std::chrono::microseconds> WorkerProcess::CpuTime() const {
  if (!worker_.group) return std::nullopt;
  const Result<sandbox::CgroupUsage> usage = worker_.group->cgroup().Usage();
  if (!usage) return std::nullopt;
  return std::chrono::microseconds(usage->cpu_us);
}

// What the kernel refused or killed for, and the command or its guardian did not survive.
worker::Limit WorkerProcess::ExceededInGroup() const {
  if (exceeded_ != worker::Limit::kNone || !worker_.group) return exceeded_;
  const Result<sandbox::CgroupUsage> usage = worker_.group->cgroup().Usage();
  if (!usage) return worker::Limit::kNone;
  if (usage->killed_for_memory > 0) return worker::Limit::kMemory;
  return usage->refused_processes > 0 ? worker::Limit::kProcesses : worker::Limit::kNone;
}

bool WorkerProcess::never_began() const {
  const bool died = reaped_ && (wait_code_ == CLD_KILLED || wait_code_ == CLD_DUMPED);
  const bool by_others = !killed_ && !cancelled_ && state_ == State::kRunning;
  return died && by_others && worker_.spec && lseek(worker_.spec.get(), 0, SEEK_CUR) == 0;
}

Execution WorkerProcess::Describe() const {
  Execution execution;
  execution.never_began = never_began();
  if (state_ == State::kEnded) {
    DescribeEnd(execution);
  } else if (state_ == State::kSetupFailed) {
    execution.failed_step = status_.step;
    execution.failed_errno = status_.sys_errno;
    execution.failure =
        Error(worker::StepName(status_.step), status_.subject, status_.sys_errno).Message();
  } else {
    DescribeSilence(execution);
  }
  const bool failed = state_ != State::kSetupFailed && !execution.Succeeded();
  const bool named = execution.outcome == Outcome::kLimitExceeded ||
                     execution.outcome == Outcome::kTimedOut ||
                     execution.outcome == Outcome::kCancelled;
  if (failed && !named && !broken()) Name(ExceededInGroup(), execution);
  return execution;
}

void WorkerProcess::DescribeEnd(Execution& execution) const {
  execution.outcome = ToOutcome(status_.reason);
  if (status_.reason == EndReason::kExited) execution.exit_code = status_.exit_code;
  if (status_.reason == EndReason::kSignaled) execution.signal = status_.term_signal;
  if (status_.reason == EndReason::kLimitExceeded) execution.limit = status_.limit;
  execution.duration = std::chrono::microseconds(status_.wall_us);
  execution.strays_killed = status_.strays_killed;
  execution.probe_denied = status_.probe_denied;
  execution.probe_tried = status_.probe_tried;
}

// The guardian is gone and did not say how the command ended: never a success.
void WorkerProcess::DescribeSilence(Execution& execution) const {
  if (late_) {
    execution.outcome = Outcome::kTimedOut;
  } else if (cancelled_ && !broken()) {
    execution.outcome = Outcome::kCancelled;
  } else if (!killed_ && wait_code_ != 0 && wait_code_ != CLD_EXITED) {
    // Whatever the command was doing, it was killed with its guardian; what it had said is kept.
    execution.outcome = Outcome::kSignaled;
    execution.signal = SIGKILL;
    execution.warning = "the guardian was killed, and with it all processes of the command";
  }
  if (broken()) {
    execution.failure = "worker control socket: " + broken_why_;
  } else if (wait_code_ == CLD_EXITED) {
    execution.failure = "worker: exited with " + std::to_string(wait_status_) + " and no status";
  } else if (wait_code_ == 0) {
    execution.failure = "worker: ended without a status";
  } else {
    execution.failure =
        "worker: killed by signal " + std::to_string(wait_status_) + " without a status";
  }
}

}  // namespace pa
