// Trees end in every case: what the command leaves behind, however it was detached, is gone when
// the worker says kEnded. With the kernel's signal scope (ABI 6) and without (PA_LANDLOCK_ABI=5),
// as the tests' user and as nobody.
#include "worker/guardian.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "sandbox/landlock.h"
#include "tests/support/deadline.h"
#include "tests/support/processes.h"
#include "worker/worker_test_support.h"

namespace pa::worker {
namespace {

using testing::Eventually;
using testing::ProcessesWith;

struct Way {
  const char* name;
  User user;
  const char* worker;
  std::vector<std::string> worker_env;
};

class GuardianTest : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (GetParam().user == User::kNobody && geteuid() != 0) {
      GTEST_SKIP() << "only root can become nobody";
    }
    scratch_.emplace(GetParam().user);
    seconds_ = UniqueSeconds();
  }

  StartOptions Options() const {
    return {
        .user = GetParam().user, .worker = GetParam().worker, .worker_env = GetParam().worker_env};
  }
  WorkerRun Start(const WorkerSpec& spec) { return WorkerRun(spec, Options()); }
  WorkerSpec Script(const std::string& script) { return Shell(*scratch_, script); }
  // Once it has made `written` before its deadline.
  Finished WaitForDeadline(WorkerSpec spec) {
    return testing::WithLongerDeadlines(scratch_->work() + "/written", [&](auto deadline) {
      spec.limits.wall_time_ms = static_cast<std::uint64_t>(deadline.count());
      return Start(spec).Wait();
    });
  }

  // Deaf to SIGTERM, in a session of its own, child of a parent that is gone, holding stdout.
  std::string Daemon() const {
    return "setsid sh -c 'trap \"\" TERM HUP; (sleep " + seconds_ + "; :) & echo daemon; sleep " +
           seconds_ + "; :' & ";
  }

  void ExpectNothingLeft(const Finished& done) {
    EXPECT_TRUE(ProcessesWith(seconds_).empty());
    EXPECT_EQ(done.Last().survivors, 0u);
  }

  std::optional<Scratch> scratch_;
  std::string seconds_;
};

const Way kWays[] = {
    {"Scope", User::kSelf, "project-actions-worker", {}},
    {"ScopeNobody", User::kNobody, "project-actions-worker", {}},
    {"NoScope", User::kSelf, "project-actions-worker-faults", {"PA_LANDLOCK_ABI=5"}},
    {"NoScopeNobody", User::kNobody, "project-actions-worker-faults", {"PA_LANDLOCK_ABI=5"}},
    {"Unconfined", User::kSelf, "project-actions-worker-unconfined", {}},
};

INSTANTIATE_TEST_SUITE_P(Ways, GuardianTest, ::testing::ValuesIn(kWays),
                         [](const auto& way) { return way.param.name; });

TEST_P(GuardianTest, StraysEndWithTheCommandAndTheReplyDoesNotWait) {
  WorkerRun run = Start(Script(Daemon() + "sleep 0.2; echo done; exit 3"));
  const Finished done = run.Wait();
  EXPECT_NE(done.out.find("done"), std::string::npos) << done.Last().subject;
  EXPECT_NE(done.out.find("daemon"), std::string::npos);
  EXPECT_EQ(done.Last().reason, EndReason::kExited);
  EXPECT_EQ(done.Last().exit_code, 3);
  EXPECT_GE(done.Last().strays_killed, 1u);
  ExpectNothingLeft(done);
}

// What is at once on a machine that has nothing else to do may take a while on another one.
TEST_P(GuardianTest, WhatFinishesByItselfAtOnceIsNoStray) {
  StartOptions options = Options();
  options.worker = "project-actions-worker-faults";
  options.worker_env.emplace_back("PA_PATIENCE=400");
  const Finished done = WorkerRun(Script("(sleep 0.01; echo late) & exit 0"), options).Wait();
  EXPECT_EQ(done.out, "late\n");
  EXPECT_EQ(done.Last().strays_killed, 0u);
}

TEST_P(GuardianTest, TheDeadlineEndsTheTreeAndKeepsTheOutput) {
  WorkerSpec spec =
      Script(Daemon() + "trap '' TERM; echo partial; touch written; sleep " + seconds_ + "; :");
  spec.limits.grace_ms = 100;
  const Finished done = WaitForDeadline(spec);
  EXPECT_NE(done.out.find("partial"), std::string::npos);
  EXPECT_EQ(done.Last().reason, EndReason::kTimedOut);
  EXPECT_EQ(done.Last().term_signal, SIGKILL);
  EXPECT_EQ(done.Last().tmp_clean, 1u);
  ExpectNothingLeft(done);
}

TEST_P(GuardianTest, TheDeadlineIsPoliteFirst) {
  WorkerSpec spec =
      Script("trap 'echo tidied; exit 9' TERM; touch written; while :; do sleep 0.05; done");
  spec.limits.grace_ms = 60'000;
  const Finished done = WaitForDeadline(spec);
  EXPECT_NE(done.out.find("tidied\n"), std::string::npos) << done.out;
  EXPECT_EQ(done.Last().reason, EndReason::kTimedOut);
  EXPECT_EQ(done.Last().exit_code, 9);
}

// Nobody is left to count or to end it.
TEST_P(GuardianTest, WithTheGuardianTheCommandDies) {
  WorkerRun run = Start(Script("echo ready; exec sleep " + seconds_));
  ASSERT_TRUE(run.WaitForOutput("ready"));
  // While the shell becomes the sleep, its command line is empty.
  ASSERT_TRUE(Eventually([&] { return ProcessesWith(seconds_).size() == 1; }));
  kill(run.pid(), SIGKILL);
  EXPECT_EQ(run.Wait().exit_code, 128 + SIGKILL);
  EXPECT_TRUE(Eventually([&] { return ProcessesWith(seconds_).empty(); }));
}

TEST_P(GuardianTest, ThePoliteSignalReachesTheWholeTree) {
  WorkerSpec spec = Script(
      "(trap 'echo child; exit' TERM; echo ready1; while :; do sleep 0.05; done) & "
      "trap 'wait; echo parent; exit 9' TERM; echo ready2; while :; do sleep 0.05; done");
  spec.limits.grace_ms = 5000;
  WorkerRun run = Start(spec);
  ASSERT_TRUE(run.WaitForOutput("ready1") && run.WaitForOutput("ready2"));
  run.Cancel();
  const Finished done = run.Wait();
  EXPECT_NE(done.out.find("child\n"), std::string::npos);
  EXPECT_NE(done.out.find("parent\n"), std::string::npos);
  EXPECT_EQ(done.Last().reason, EndReason::kCancelled);
  EXPECT_EQ(done.Last().exit_code, 9);
}

TEST_P(GuardianTest, AStoppedProcessEndsToo) {
  WorkerSpec spec = Script("echo ready; kill -STOP $$; sleep " + seconds_);
  spec.limits.grace_ms = 5000;
  WorkerRun run = Start(spec);
  ASSERT_TRUE(run.WaitForOutput("ready"));
  run.Cancel();
  const Finished done = run.Wait();
  EXPECT_EQ(done.Last().term_signal, SIGTERM);
  ExpectNothingLeft(done);
}

TEST_P(GuardianTest, SigtermToTheWorkerIsACancel) {
  WorkerRun run = Start(Script(Daemon() + "sleep " + seconds_));
  ASSERT_TRUE(run.WaitForOutput("daemon"));
  kill(run.pid(), SIGTERM);
  const Finished done = run.Wait();
  EXPECT_EQ(done.Last().reason, EndReason::kCancelled);
  ExpectNothingLeft(done);
}

TEST_P(GuardianTest, WhenTheSupervisorDiesEverythingIsGone) {
  WorkerSpec spec = Script(Daemon() + "touch $TMPDIR/file; sleep " + seconds_);
  spec.limits.grace_ms = 60'000;  // is not waited for
  WorkerRun run = Start(spec);
  ASSERT_TRUE(run.WaitForOutput("daemon"));
  run.HangUp();
  EXPECT_TRUE(Eventually([&] { return ProcessesWith(seconds_).empty(); }));
  EXPECT_EQ(run.Wait().exit_code, 0);
  EXPECT_NE(access(scratch_->tmp().c_str(), F_OK), 0);
}

TEST_P(GuardianTest, ABystanderOfTheSameUserLives) {
  const pid_t bystander = fork();
  if (bystander == 0) {
    setsid();
    if (GetParam().user == User::kNobody && setresuid(65534, 65534, 65534) != 0) _exit(1);
    for (;;) pause();
  }
  WorkerSpec spec = Script(Daemon() + "sleep " + seconds_);
  spec.limits.wall_time_ms = 200;
  spec.limits.grace_ms = 0;
  WorkerRun run = Start(spec);
  const Finished done = run.Wait();
  ExpectNothingLeft(done);
  EXPECT_EQ(done.Last().reason, EndReason::kTimedOut);
  EXPECT_EQ(waitpid(bystander, nullptr, WNOHANG), 0) << "the bystander was killed";
  kill(bystander, SIGKILL);
  waitpid(bystander, nullptr, 0);
}

TEST_P(GuardianTest, TooManyProcessesEndTheTree) {
  WorkerSpec spec =
      Script("for i in 1 2 3 4 5 6 7 8 9 10; do sleep " + seconds_ + " & done; echo started; wait");
  spec.limits.processes = 5;
  if (GetParam().user == User::kNobody) spec.limits.processes = 8;
  WorkerRun run = Start(spec);
  const Finished done = run.Wait();
  EXPECT_EQ(done.Last().reason, EndReason::kLimitExceeded);
  EXPECT_EQ(done.Last().limit, Limit::kProcesses);
  ExpectNothingLeft(done);
}

TEST_P(GuardianTest, FewerProcessesThanTheLimitRun) {
  WorkerSpec spec = Script("sleep 0.3 & sleep 0.3 & wait; echo fine");
  spec.limits.processes = 20;
  spec.limits.memory_bytes = 512u << 20;
  WorkerRun run = Start(spec);
  const Finished done = run.Wait();
  EXPECT_EQ(done.out, "fine\n");
  EXPECT_EQ(done.Last().reason, EndReason::kExited);
}

TEST_P(GuardianTest, TooMuchMemoryOfTheWholeTreeEndsIt) {
  // Two processes of 40 MB each; neither alone is over the limit.
  const std::string hog = "dd if=/dev/zero of=/dev/null bs=40M count=1000000 2>/dev/null & ";
  WorkerSpec spec = Script(hog + hog + "sleep " + seconds_);
  spec.limits.memory_bytes = 60u << 20;
  WorkerRun run = Start(spec);
  const Finished done = run.Wait();
  EXPECT_EQ(done.Last().reason, EndReason::kLimitExceeded);
  EXPECT_EQ(done.Last().limit, Limit::kMemory);
  ExpectNothingLeft(done);
}

// Nobody's own, and not counted twice.
TEST_P(GuardianTest, SharedMemoryCounts) {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "nothing here can map shared memory";
  const std::string fill =
      "python3 -c 'import mmap, time; m = mmap.mmap(-1, 64 << 20)\n"
      "for i in range(64): m.write(bytes(1 << 20))\n"
      "print(\"filled\", flush=True); time.sleep(SECONDS)'";
  const auto run = [&](const std::string& seconds, std::uint64_t limit) {
    std::string script = fill;
    script.replace(script.find("SECONDS"), 7, seconds);
    WorkerSpec spec = Script(script);
    spec.limits.memory_bytes = limit;
    return Start(spec).Wait();
  };
  const Finished over = run(seconds_, 60u << 20);
  EXPECT_EQ(over.Last().reason, EndReason::kLimitExceeded) << over.err;
  EXPECT_EQ(over.Last().limit, Limit::kMemory);
  ExpectNothingLeft(over);
  EXPECT_EQ(run("0.3", 1u << 30).Last().reason, EndReason::kExited);
}

// Each process starts the next and exits: no list of processes is ever true.
TEST_P(GuardianTest, AChainOfForksEnds) {
  WorkerSpec spec = Script("chain() { : " + seconds_ + "; chain & exit; }; chain & sleep 100");
  spec.limits.wall_time_ms = 300;
  spec.limits.grace_ms = 100;
  WorkerRun run = Start(spec);
  const Finished done = run.Wait();
  EXPECT_EQ(done.Last().reason, EndReason::kTimedOut);
  ExpectNothingLeft(done);
}

// Bounded by RLIMIT_NPROC, which does not bind root.
TEST_P(GuardianTest, AForkBombLeavesNothing) {
  if (GetParam().user != User::kNobody) GTEST_SKIP() << "only for a user whom RLIMIT_NPROC binds";
  WorkerSpec spec = Script("bomb() { : " + seconds_ + "; bomb | bomb & }; bomb; sleep 100");
  spec.limits.processes = 50;
  spec.limits.wall_time_ms = 500;
  WorkerRun run = Start(spec);
  const Finished done = run.Wait();
  EXPECT_EQ(done.Last().kind, StatusKind::kEnded);
  ExpectNothingLeft(done);
}

class KernelLimitTest : public GuardianTest {};
INSTANTIATE_TEST_SUITE_P(Ways, KernelLimitTest, ::testing::ValuesIn(kWays, kWays + 4),
                         [](const auto& way) { return way.param.name; });

TEST_P(KernelLimitTest, CpuTimeIsNamed) {
  WorkerSpec spec = Script("while :; do :; done");
  spec.limits.cpu_seconds = 1;
  WorkerRun run = Start(spec);
  const Finished done = run.Wait();
  EXPECT_EQ(done.Last().reason, EndReason::kLimitExceeded);
  EXPECT_EQ(done.Last().limit, Limit::kCpuTime);
}

TEST_P(KernelLimitTest, FileSizeIsNamed) {
  WorkerSpec spec = Script("exec head -c 100000 /dev/zero > big");
  spec.limits.file_bytes = 50'000;
  WorkerRun run = Start(spec);
  const Finished done = run.Wait();
  EXPECT_EQ(done.Last().reason, EndReason::kLimitExceeded);
  EXPECT_EQ(done.Last().limit, Limit::kFileSize);
}

TEST_P(KernelLimitTest, AFileWithinTheLimitIsWritten) {
  WorkerSpec spec = Script("head -c 50000 /dev/zero > big && wc -c < big");
  spec.limits.file_bytes = 50'000;
  EXPECT_EQ(Start(spec).Wait().out, "50000\n");
}

// Two layers protect the guardian of ABI 6: its own domain, and that it is not dumpable. Before,
// only the second one does, and `doctor` says so.
TEST(GuardianProtectionTest, TheCommandCanNeitherSignalNorReadIt) {
  const Scratch scratch;
  const bool scoped = sandbox::DetectLandlock().abi >= 6;
  const std::string read = "cat /proc/$PPID/environ || echo unreadable; ";
  const std::string signal = "kill -9 $PPID; kill -0 $PPID || echo unreachable; kill -TERM -1";
  const Finished done = WorkerRun(Shell(scratch, scoped ? read + signal : read)).Wait();
  EXPECT_EQ(done.out.find("unreachable") != std::string::npos, scoped);
  EXPECT_NE(done.out.find("unreadable"), std::string::npos);
  EXPECT_EQ(done.Last().kind, StatusKind::kEnded);
}

// Whatever Landlock does: /proc gives what is not dumpable to root (proc(5)).
TEST(GuardianProtectionTest, ItIsNotDumpable) {
  const User user = geteuid() == 0 ? User::kNobody : User::kSelf;
  const Scratch scratch(user);
  struct stat own;
  struct stat guardian;
  ASSERT_EQ(stat(scratch.work().c_str(), &own), 0);
  WorkerRun run(Shell(scratch, "echo ready; sleep 60"), {.user = user});
  ASSERT_TRUE(run.WaitForOutput("ready"));
  const std::string environment = "/proc/" + std::to_string(run.pid()) + "/environ";
  ASSERT_EQ(stat(environment.c_str(), &guardian), 0);
  EXPECT_NE(guardian.st_uid, own.st_uid);
  run.Cancel();
  run.Wait();
}

}  // namespace
}  // namespace pa::worker
