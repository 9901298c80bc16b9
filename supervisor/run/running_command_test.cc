#include "supervisor/run/running_command.h"

#include "supervisor/run/runner_test_support.h"
#include "tests/support/deadline.h"

namespace pa {
namespace {

class RunningCommandTest : public RunnerTest {};

TEST_F(RunningCommandTest, OutputsArriveApartWithTheExitCode) {
  const Execution execution = Shell("echo to out; echo to err >&2; exit 3");
  EXPECT_EQ(execution.outcome, Outcome::kExited) << execution.failure;
  EXPECT_EQ(execution.exit_code, 3);
  EXPECT_EQ(execution.out.text, "to out\n");
  EXPECT_EQ(execution.err.text, "to err\n");
  EXPECT_GT(execution.duration.count(), 0);
}

TEST_F(RunningCommandTest, ASignalIsNoExit) {
  const Execution execution = Shell("kill -SEGV $$");
  EXPECT_EQ(execution.outcome, Outcome::kSignaled);
  EXPECT_EQ(execution.signal, SIGSEGV);
  EXPECT_EQ(execution.exit_code, -1);
}

TEST_F(RunningCommandTest, TheDeadlineEndsTheTreeAndKeepsTheOutput) {
  const std::string script =
      "trap '' TERM; (setsid sleep 60 &) ; echo partial; touch written; sleep 60; echo never";
  const Execution execution = testing::WithLongerDeadlines(
      base_ / "project/written",
      [&](milliseconds deadline) { return Shell(script, {}, deadline); });
  EXPECT_EQ(execution.outcome, Outcome::kTimedOut);
  EXPECT_EQ(execution.out.text, "partial\n");
}

TEST_F(RunningCommandTest, CancelEndsTheTreeAndKeepsTheOutput) {
  CancelSource cancel;
  Gate sink;
  const auto pending =
      Start(Plan({"/bin/sh", "-c", "echo partial; sleep 60"}), {.sink = &sink, .cancel = &cancel});
  RunLoopUntil([&] { return !sink.out.empty(); });
  cancel.Cancel();
  const Execution execution = Finish(pending);
  EXPECT_EQ(execution.outcome, Outcome::kCancelled);
  EXPECT_EQ(execution.exit_code, -1);
  EXPECT_EQ(execution.out.text, "partial\n");
}

TEST_F(RunningCommandTest, AClosedGateHoldsTheCommandAndNotTheMemory) {
  Gate sink;
  sink.close_at = 1;
  const auto pending = Start(
      Plan({"/bin/sh", "-c", "head -c 20000000 /dev/zero; echo written > done"}), {.sink = &sink});
  RunLoopUntil([&] { return sink.output_gate.closed(); });
  const std::size_t seen = sink.out.size();
  // The loop sleeps: nobody reads, and the command cannot go on.
  bool late = false;
  TimerHandle timer(&loop_);
  timer.Start(milliseconds(300), [&] { late = true; });
  RunLoopUntil([&] { return late; });
  EXPECT_EQ(sink.out.size(), seen);
  EXPECT_FALSE(fs::exists(base_ / "project/done"));
  sink.close_at = 0;
  sink.output_gate.Open();
  EXPECT_EQ(Finish(pending).out.total_bytes, 20000000u);
  EXPECT_TRUE(fs::exists(base_ / "project/done"));
}

TEST_F(RunningCommandTest, WhoCancelsNeedNotReadOn) {
  Gate sink;
  sink.close_at = 1;
  CancelSource cancel;
  const auto pending = Start(Plan({"/bin/sh", "-c", "yes"}), {.sink = &sink, .cancel = &cancel});
  RunLoopUntil([&] { return sink.output_gate.closed(); });
  cancel.Cancel();
  EXPECT_EQ(Finish(pending).outcome, Outcome::kCancelled);
}

// It ends as it likes: half of its output has nobody who could tell it from all.
TEST_F(RunningCommandTest, WhatWasCancelledAndWithheldIsNoSuccess) {
  Gate sink;
  CancelSource cancel;
  const auto pending =
      Start(Plan({"/bin/sh", "-c",
                  "trap 'echo more; exit 0' TERM; echo some; while :; do sleep 0.05; done"}),
            {.sink = &sink, .cancel = &cancel, .capture = false});
  RunLoopUntil([&] { return !sink.out.empty(); });
  cancel.Cancel();
  EXPECT_EQ(Finish(pending).outcome, Outcome::kCancelled);
  EXPECT_EQ(sink.out, "some\n");
}

TEST_F(RunningCommandTest, AGateThatOpensLateLosesNothing) {
  Gate sink;
  sink.close_at = 1;
  const auto pending = Start(Plan({"/bin/sh", "-c", "echo a; sleep 0.2; echo b"}), {.sink = &sink});
  RunLoopUntil([&] { return sink.output_gate.closed(); });
  bool late = false;
  TimerHandle timer(&loop_);
  timer.Start(milliseconds(2500), [&] { late = true; });  // longer than the drain would wait
  RunLoopUntil([&] { return late; });
  EXPECT_FALSE(pending->execution);
  sink.close_at = 0;
  sink.output_gate.Open();
  EXPECT_EQ(Finish(pending).out.text, "a\nb\n");
}

TEST_F(RunningCommandTest, HoweverOutputIsDeliveredNothingIsLost) {
  for (const Delivery delivery : {Delivery::kLive, Delivery::kInBulk, Delivery::kAtEnd}) {
    for (const std::size_t size : {0U, 65'000U, 70'000U, 1'100'000U, 20'000'000U}) {
      Gate sink;
      const std::string script = "echo first; head -c " + std::to_string(size) +
                                 " /dev/zero | tr '\\0' x; echo; echo last; echo error >&2";
      const Execution execution =
          Finish(Start(Plan({"/bin/sh", "-c", script}), {.sink = &sink, .delivery = delivery}));
      EXPECT_EQ(execution.outcome, Outcome::kExited);
      EXPECT_EQ(execution.out.total_bytes, sizeof "first\n\nlast\n" - 1 + size);
      EXPECT_EQ(sink.out, "first\n" + std::string(size, 'x') + "\nlast\n") << size;
      EXPECT_EQ(execution.err.text, "error\n");
    }
  }
}

TEST_F(RunningCommandTest, AGateThatClosesMidwayLosesNothing) {
  for (const Delivery delivery : {Delivery::kInBulk, Delivery::kAtEnd}) {
    Gate sink;
    sink.close_at = 1;
    const auto pending = Start(Plan({"/bin/sh", "-c", "head -c 600000 /dev/zero; echo end >&2"}),
                               {.sink = &sink, .delivery = delivery});
    RunLoopUntil([&] { return sink.output_gate.closed(); });
    sink.close_at = 0;
    sink.output_gate.Open();
    EXPECT_EQ(Finish(pending).out.total_bytes, 600'000u);
    EXPECT_TRUE(sink.out.ends_with(std::string(10, '\0')));
  }
}

TEST_F(RunningCommandTest, AStrayThatHoldsStdoutIsEndedAndNotWaitedFor) {
  const Execution execution = Shell("(trap '' TERM; setsid sleep 60) & echo done");
  EXPECT_EQ(execution.outcome, Outcome::kExited);
  EXPECT_EQ(execution.out.text, "done\n");
  EXPECT_GE(execution.strays_killed, 1u);
}

// With the worker that misbehaves.

TEST_F(RunningCommandTest, FakeEchoShowsThatTheFakeWorks) {
  UseFakeWorker();
  const Execution execution = Run({"/fake", "echo", "hello"});
  EXPECT_EQ(execution.outcome, Outcome::kExited) << execution.failure;
  EXPECT_EQ(execution.out.text, "hello\n");
}

TEST_F(RunningCommandTest, AWorkerThatDiesSilentlyIsAFailure) {
  UseFakeWorker();
  const Execution execution = Fake("silent");
  EXPECT_EQ(execution.outcome, Outcome::kSetupFailed);
  EXPECT_EQ(execution.failure, "worker: exited with 7 and no status");
}

TEST_F(RunningCommandTest, AGarbledStatusIsAFailureAndTheWorkerIsKilled) {
  UseFakeWorker();
  const Execution execution = Fake("garbage");
  EXPECT_EQ(execution.outcome, Outcome::kSetupFailed);
  EXPECT_EQ(execution.failure, "worker control socket: a packet of 7 bytes that is no status");
}

TEST_F(RunningCommandTest, ADescriptorThatNobodyAskedForIsRefused) {
  UseFakeWorker();
  for (const char* way : {"gives", "gives-at-its-end"}) {
    const Execution execution = Fake(way);
    EXPECT_EQ(execution.outcome, Outcome::kSetupFailed) << way;
    EXPECT_TRUE(execution.failure.starts_with("worker control socket: ")) << execution.failure;
  }
}

TEST_F(RunningCommandTest, AFailedSetupNamesStepSubjectAndErrno) {
  UseFakeWorker();
  const Execution execution = Fake("fails-setup");
  EXPECT_EQ(execution.outcome, Outcome::kSetupFailed);
  EXPECT_TRUE(execution.failure.starts_with("landlock \"/srv/x\": EPERM")) << execution.failure;
}

TEST_F(RunningCommandTest, AWorkerThatHangsUpIsKilled) {
  UseFakeWorker();
  const Execution execution = Fake("hangs-up");
  EXPECT_EQ(execution.outcome, Outcome::kSignaled);
  EXPECT_EQ(execution.failure, "worker: killed by signal 9 without a status");
}

TEST_F(RunningCommandTest, AWorkerThatIsLongInDyingWasKilledByAnother) {
  UseFakeWorker();
  const Execution execution = Fake("dies-slowly");
  EXPECT_EQ(execution.outcome, Outcome::kSignaled) << execution.failure;
  EXPECT_EQ(execution.signal, SIGKILL);
}

TEST_F(RunningCommandTest, AWorkerThatWillNotLeaveIsKilledAndItsWordStands) {
  UseFakeWorker();
  EXPECT_EQ(Fake("lingers").outcome, Outcome::kExited);
}

TEST_F(RunningCommandTest, CancelReachesTheWorker) {
  UseFakeWorker();
  CancelSource cancel;
  Gate sink;
  const auto pending = Start(Plan({"/fake", "cancel"}), {.sink = &sink, .cancel = &cancel});
  RunLoopUntil([&] { return !sink.out.empty(); });
  cancel.Cancel();
  EXPECT_EQ(Finish(pending).outcome, Outcome::kCancelled);
}

TEST_F(RunningCommandTest, AWorkerThatNeverEndsIsKilledAfterItsTime) {
  UseFakeWorker();
  const Execution execution = Fake("never", {}, milliseconds(1));
  EXPECT_EQ(execution.outcome, Outcome::kTimedOut);
  EXPECT_EQ(execution.out.text, "partial\n");
}

TEST_F(RunningCommandTest, AnOutsiderThatHoldsStdoutIsNotWaitedFor) {
  UseFakeWorker();
  for (const char* way : {"loses-stdout", "lingers-and-loses-stdout"}) {
    const Execution execution = Fake(way);
    EXPECT_EQ(execution.outcome, Outcome::kExited);
    // It comes to us as an orphan, but it is no part of the tree: left alone until the test ends
    // it.
    std::istringstream all_there_is(execution.out.text);
    pid_t outsider = 0;
    ASSERT_TRUE(all_there_is >> outsider);
    std::string stat;
    std::getline(std::ifstream("/proc/" + std::to_string(outsider) + "/stat"), stat);
    EXPECT_NE(stat.find(") S "), std::string::npos) << "it has ended: it was waited for " << stat;
    EXPECT_EQ(kill(outsider, SIGKILL), 0);
    // It is not ours before its parent is reaped, by a loop that nothing else keeps alive then.
    while (waitpid(outsider, nullptr, WNOHANG) != outsider) uv_run(&loop_, UV_RUN_NOWAIT);
  }
}

TEST_F(RunningCommandTest, WhatAKilledGuardianLeavesIsEndedByUs) {
  UseFakeWorker();
  const Execution execution = Fake("is-killed");
  EXPECT_EQ(execution.outcome, Outcome::kSignaled) << "what it had said is kept";
  std::istringstream pids(execution.out.text);
  int count = 0;
  for (pid_t pid = 0; pids >> pid; ++count) EXPECT_EQ(kill(pid, 0), -1) << pid;
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace pa
