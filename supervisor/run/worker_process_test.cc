#include "supervisor/run/worker_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

namespace pa {
namespace {

using worker::EndReason;
using worker::StatusKind;
using worker::WorkerStatus;

// A forked child stands in for the worker; the test says on its behalf what it says.
struct StandIn {
  StandIn() {
    SpawnedWorker worker;
    worker.pid = fork();  // before the socket, of which it must have no copy
    if (worker.pid == 0) {
      pause();
      _exit(0);
    }
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    worker.control.reset(fds[0]);
    guardian.reset(fds[1]);
    process = std::make_unique<WorkerProcess>(std::move(worker));
  }
  ~StandIn() { End(); }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  void Say(const WorkerStatus& status) const {
    ASSERT_EQ(send(guardian.get(), &status, sizeof status, 0), static_cast<ssize_t>(sizeof status));
  }
  void End() const {
    process->Kill(false);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(process->fds().pid), &info, WEXITED | WNOWAIT);
    EXPECT_TRUE(process->Reap());
  }

  UniqueFd guardian;
  std::unique_ptr<WorkerProcess> process;
};

WorkerStatus Ended(EndReason reason) {
  WorkerStatus status;
  status.kind = StatusKind::kEnded;
  status.reason = reason;
  return status;
}

TEST(WorkerProcess, AnExitIsReported) {
  StandIn one;
  EXPECT_TRUE(one.process->ReadControl());
  EXPECT_FALSE(one.process->settled());
  EXPECT_FALSE(one.process->Reap());
  WorkerStatus ended = Ended(EndReason::kExited);
  ended.exit_code = 3;
  ended.wall_us = 1500;
  ended.strays_killed = 2;
  ended.tmp_clean = 1;
  one.Say(ended);
  EXPECT_TRUE(one.process->ReadControl());
  EXPECT_TRUE(one.process->settled());
  EXPECT_TRUE(one.process->tmp_clean());
  one.guardian.reset();
  EXPECT_FALSE(one.process->ReadControl());
  one.End();
  const Execution execution = one.process->Describe();
  EXPECT_EQ(execution.outcome, Outcome::kExited);
  EXPECT_EQ(execution.exit_code, 3);
  EXPECT_EQ(execution.duration.count(), 1500);
  EXPECT_EQ(execution.strays_killed, 2u);
  EXPECT_EQ(execution.failure, "");
}

TEST(WorkerProcess, EveryReasonHasItsOutcome) {
  const std::pair<EndReason, Outcome> table[] = {
      {EndReason::kSignaled, Outcome::kSignaled},
      {EndReason::kTimedOut, Outcome::kTimedOut},
      {EndReason::kCancelled, Outcome::kCancelled},
      {EndReason::kLimitExceeded, Outcome::kLimitExceeded},
  };
  for (const auto& [reason, outcome] : table) {
    StandIn one;
    WorkerStatus ended = Ended(reason);
    ended.term_signal = SIGSEGV;
    ended.limit = worker::Limit::kMemory;
    one.Say(ended);
    one.process->ReadControl();
    const Execution execution = one.process->Describe();
    EXPECT_EQ(execution.outcome, outcome);
    EXPECT_EQ(execution.signal, outcome == Outcome::kSignaled ? SIGSEGV : 0);
    EXPECT_EQ(execution.limit,
              outcome == Outcome::kLimitExceeded ? worker::Limit::kMemory : worker::Limit::kNone);
    EXPECT_EQ(execution.exit_code, -1);
  }
}

TEST(WorkerProcess, AFailedSetupNamesStepSubjectAndErrno) {
  StandIn one;
  WorkerStatus failed;
  failed.kind = StatusKind::kSetupFailed;
  failed.step = worker::Step::kLandlock;
  failed.sys_errno = EPERM;
  std::snprintf(failed.subject, sizeof failed.subject, "/srv/x");
  one.Say(failed);
  one.process->ReadControl();
  EXPECT_TRUE(one.process->settled());
  EXPECT_FALSE(one.process->tmp_clean());
  const Execution execution = one.process->Describe();
  EXPECT_EQ(execution.outcome, Outcome::kSetupFailed);
  EXPECT_EQ(execution.failed_step, worker::Step::kLandlock);
  EXPECT_EQ(execution.failed_errno, EPERM);
  EXPECT_TRUE(execution.failure.starts_with("landlock \"/srv/x\": EPERM")) << execution.failure;
}

TEST(WorkerProcess, ASubjectWithoutAnEndIsCut) {
  StandIn one;
  WorkerStatus failed;
  failed.kind = StatusKind::kSetupFailed;
  failed.step = worker::Step::kExecute;
  std::memset(failed.subject, 'x', sizeof failed.subject);
  one.Say(failed);
  one.process->ReadControl();
  EXPECT_NE(one.process->Describe().failure.find(": " + std::string(255, 'x')), std::string::npos);
}

TEST(WorkerProcess, GarbageIsNoStatus) {
  WorkerStatus wrong_magic;
  wrong_magic.magic = 7;
  WorkerStatus unknown_kind;
  unknown_kind.kind = static_cast<StatusKind>(9);
  WorkerStatus unknown_reason = Ended(static_cast<EndReason>(77));
  std::string too_long(sizeof(WorkerStatus) + 1, '\0');
  const WorkerStatus started;
  std::memcpy(too_long.data(), &started, sizeof started);
  const auto bytes = [](const WorkerStatus& status) {
    return std::string(reinterpret_cast<const char*>(&status), sizeof status);
  };
  for (const std::string& packet : {std::string("x"), too_long, bytes(wrong_magic),
                                    bytes(unknown_kind), bytes(unknown_reason)}) {
    StandIn one;
    send(one.guardian.get(), packet.data(), packet.size(), 0);
    EXPECT_TRUE(one.process->ReadControl());
    EXPECT_TRUE(one.process->broken());
    EXPECT_FALSE(one.process->settled());
    // Too late for the truth.
    one.Say(Ended(EndReason::kExited));
    one.process->ReadControl();
    const Execution execution = one.process->Describe();
    EXPECT_EQ(execution.outcome, Outcome::kSetupFailed);
    EXPECT_TRUE(execution.failure.starts_with("worker control socket: ")) << execution.failure;
  }
}

TEST(WorkerProcess, NothingMayFollowTheEnd) {
  StandIn one;
  one.Say(Ended(EndReason::kExited));
  one.Say(Ended(EndReason::kExited));
  one.process->ReadControl();
  EXPECT_TRUE(one.process->broken());
}

TEST(WorkerProcess, AWorkerThatSomebodyKilledTookItsCommandWithIt) {
  StandIn one;
  kill(one.process->fds().pid, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(one.process->fds().pid), &info, WEXITED | WNOWAIT);
  one.guardian.reset();
  ASSERT_TRUE(one.process->Reap());
  const Execution execution = one.process->Describe();
  EXPECT_EQ(execution.outcome, Outcome::kSignaled);
  EXPECT_EQ(execution.signal, SIGKILL);
  EXPECT_NE(execution.warning, "");
}

TEST(WorkerProcess, AWorkerKilledByUsWithoutAStatusIsNoSuccess) {
  StandIn one;
  one.guardian.reset();
  EXPECT_FALSE(one.process->ReadControl());
  one.End();
  const Execution execution = one.process->Describe();
  EXPECT_EQ(execution.outcome, Outcome::kSetupFailed);
  EXPECT_EQ(execution.failure, "worker: killed by signal 9 without a status");
}

TEST(WorkerProcess, KilledBecauseItsTimeWasOverIsTimedOut) {
  StandIn one;
  one.process->Kill(true);
  one.End();
  EXPECT_EQ(one.process->Describe().outcome, Outcome::kTimedOut);
}

TEST(WorkerProcess, CancelIsSentOnceAndSilenceAfterItIsCancelled) {
  StandIn one;
  one.process->Cancel();
  one.process->Cancel();
  worker::AskOrder order{.ask = worker::Ask::kNetwork};
  EXPECT_EQ(recv(one.guardian.get(), &order, sizeof order, MSG_DONTWAIT), sizeof order);
  EXPECT_EQ(order.ask, worker::Ask::kCancel);
  EXPECT_EQ(recv(one.guardian.get(), &order, sizeof order, MSG_DONTWAIT), -1);
  one.End();
  EXPECT_EQ(one.process->Describe().outcome, Outcome::kCancelled);
}

// The kernel reports ECONNRESET before it gives the packets that wait.
TEST(WorkerProcess, AnUnreadCancelDoesNotHideTheEnd) {
  StandIn one;
  one.process->Cancel();
  one.Say(Ended(EndReason::kExited));
  one.guardian.reset();
  EXPECT_FALSE(one.process->ReadControl());
  EXPECT_TRUE(one.process->settled());
  EXPECT_EQ(one.process->Describe().outcome, Outcome::kExited);
}

TEST(WorkerProcess, AfterAHangUpTheGuardianCanStillReport) {
  StandIn one;
  one.process->HangUp();
  char byte;
  EXPECT_EQ(recv(one.guardian.get(), &byte, 1, 0), 0);
  one.Say(Ended(EndReason::kCancelled));
  one.process->ReadControl();
  EXPECT_TRUE(one.process->settled());
}

TEST(WorkerProcess, WhatTheWorkerSaidLastIsTakenWhenItIsReaped) {
  StandIn one;
  one.Say(Ended(EndReason::kExited));
  one.End();
  EXPECT_TRUE(one.process->settled());
}

}  // namespace
}  // namespace pa
