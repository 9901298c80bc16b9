#include "supervisor/run/runner.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "base/digest.h"
#include "supervisor/run/launcher.h"
#include "supervisor/run/repository_lock.h"
#include "supervisor/run/runner_test_support.h"
#include "tests/support/few_descriptors.h"
#include "tests/support/held_opens.h"
#include "worker/file_header.h"

namespace pa {
namespace {

TEST_F(RunnerTest, TheCommandHasItsDirectoryStdinEnvironmentAndNothingElse) {
  CommandPlan plan =
      Plan({"/bin/sh", "-c", "pwd; od -An -c; env | grep -v ^PWD= | cut -d= -f1 | sort"});
  plan.stdin_data = std::string("the message\0 raw\n", 17);
  const Execution execution = Finish(Start(std::move(plan)));
  EXPECT_EQ(execution.out.text,
            (base_ / "project").string() + "\n" +
                R"(   t   h   e       m   e   s   s   a   g   e  \0       r   a   w)" +
                "\n  \\n\nPATH\nTEMP\nTMP\nTMPDIR\n");
}

TEST_F(RunnerTest, StdinIsNullByDefault) {
  const Execution execution = Shell("readlink /proc/self/fd/0; cat | wc -c");
  EXPECT_EQ(execution.out.text, "/dev/null\n0\n");
}

TEST_F(RunnerTest, TmpdirIsPrivateWritableAndEmptyForTheNext) {
  const std::string script =
      "ls -A $TMPDIR | wc -l; echo x > $TMPDIR/file && mkdir $TMPDIR/dir && chmod 0 $TMPDIR/dir;"
      "stat -c %a $TMPDIR; echo $TMPDIR";
  const Execution first = Shell(script);
  const Execution second = Shell(script);
  EXPECT_TRUE(first.out.text.starts_with("0\n700\n")) << first.out.text << first.err.text;
  // The same directory: the slot was used again.
  EXPECT_EQ(first.out.text, second.out.text);
}

// In tier 0 the guardian that clears up has the command's filter, which for what only reads refuses
// fchmod(2) and truncation.
TEST_F(RunnerTest, TmpdirServesTheNextCommandWhateverThePurpose) {
  using enum policy::Purpose;
  for (const policy::Purpose purpose : {kInspect, kSearch, kBuild, kGit}) {
    purpose_ = purpose;
    const std::string script = "ls -A $TMPDIR | wc -l; echo x >> $TMPDIR/file; echo $TMPDIR";
    const Execution first = Shell(script);
    EXPECT_TRUE(first.out.text.starts_with("0\n/")) << first.out.text << first.err.text;
    EXPECT_EQ(first.out.text, Shell(script).out.text) << static_cast<int>(purpose);
  }
}

TEST_F(RunnerTest, ATmpdirWhosePermissionsWereChangedIsPrivateForTheNext) {
  EXPECT_EQ(Shell("chmod 755 $TMPDIR").exit_code, 0);
  EXPECT_EQ(Shell("stat -c %a $TMPDIR").out.text, "700\n");
  EXPECT_EQ(Shell("touch $TMPDIR/x; chmod 0 $TMPDIR").exit_code, 0);
  EXPECT_EQ(Shell("stat -c %a $TMPDIR; ls -A $TMPDIR").out.text, "700\n");
}

TEST_F(RunnerTest, CommandsAtTheSameTimeHaveDifferentTmpdirsThatAreClosedToEachOther) {
  const auto first = Start(Plan({"/bin/sh", "-c", "echo $TMPDIR; touch $TMPDIR/secret; sleep 1"}));
  const Execution second =
      Shell("for d in ${TMPDIR%/*}/*; do echo $d; ls $d/secret && echo open; done");
  const std::string tmpdir = Finish(first).out.text;
  EXPECT_EQ(second.out.text.find(tmpdir), std::string::npos);
  EXPECT_EQ(second.out.text.find("open"), std::string::npos) << second.out.text;
}

TEST_F(RunnerTest, AGrantedPathThatWasReplacedIsGrantedAnew) {
  EXPECT_EQ(Shell("echo one > file").exit_code, 0);
  fs::remove_all(base_ / "project");
  fs::create_directory(base_ / "project");
  const Execution execution = Shell("echo two > file; cat file");
  EXPECT_EQ(execution.out.text, "two\n") << execution.err.text;
}

TEST_F(RunnerTest, OutsideIsRefusedAndInsideIsNot) {
  std::ofstream(base_ / "secret") << "key";
  const Execution execution = Shell("cat ../secret; echo x > mine && cat mine");
  EXPECT_EQ(execution.out.text, "x\n");
  EXPECT_NE(execution.err.text.find("Permission denied"), std::string::npos);
}

TEST_F(RunnerTest, CancelledBeforeOrInTheQueueNeverStarts) {
  policy_->limits.concurrent = 1;
  CancelSource early;
  early.Cancel();
  EXPECT_EQ(Shell("touch started", {.cancel = &early}).outcome, Outcome::kCancelled);
  CancelSource cancel;
  const auto first = Start(Plan({"/bin/sh", "-c", "sleep 0.3"}));
  const auto second = Start(Plan({"/bin/sh", "-c", "touch started"}), {.cancel = &cancel});
  EXPECT_EQ(runner_->running(), 1u);
  cancel.Cancel();
  ASSERT_TRUE(second->execution);
  EXPECT_EQ(second->execution->outcome, Outcome::kCancelled);
  EXPECT_EQ(Finish(first).outcome, Outcome::kExited);
  EXPECT_FALSE(fs::exists(base_ / "project/started"));
}

TEST_F(RunnerTest, WhoWaitsSaysHowManyAreBeforeHim) {
  policy_->limits.concurrent = 1;
  RunRecord running;
  RunRecord waiting;
  const auto first = Start(Plan({"/bin/sh", "-c", "sleep 0.2"}), {.record = &running});
  const auto second = Start(Plan({"/bin/true"}), {.record = &waiting});
  EXPECT_FALSE(running.queue.calls_before);
  ASSERT_TRUE(waiting.queue.calls_before);
  EXPECT_EQ(waiting.queue.calls_before(), 1u);
  EXPECT_EQ(Finish(second).exit_code, 0);
  EXPECT_FALSE(waiting.queue.calls_before);
  policy_->limits.queue = 0;
  const auto third = Start(Plan({"/bin/sh", "-c", "sleep 0.2"}), {.record = &running});
  EXPECT_TRUE(Finish(Start(Plan({"/bin/true"}), {.record = &waiting})).busy);
  EXPECT_FALSE(waiting.queue.calls_before);
  Finish(third);
}

TEST_F(RunnerTest, AFullQueueIsBusyAndTheOthersRunInOrder) {
  policy_->limits.concurrent = 1;
  policy_->limits.queue = 2;
  std::vector<std::shared_ptr<Pending>> pending;
  for (const char* script : {"sleep 0.2; echo a >> order", "echo b >> order", "echo c >> order"}) {
    pending.push_back(Start(Plan({"/bin/sh", "-c", script})));
  }
  const Execution refused = Shell("echo d >> order");
  EXPECT_TRUE(refused.busy);
  EXPECT_EQ(refused.outcome, Outcome::kSetupFailed);
  for (const auto& one : pending) EXPECT_EQ(Finish(one).exit_code, 0);
  std::stringstream order;
  order << std::ifstream(base_ / "project/order").rdbuf();
  EXPECT_EQ(order.str(), "a\nb\nc\n");
}

TEST_F(RunnerTest, OneKeyRunsOneAfterTheOther) {
  const std::string script = "mkdir lock && sleep 0.2 && rmdir lock";
  const auto first = Start(Plan({"/bin/sh", "-c", script}), {.serialise_key = "repository"});
  const auto second = Start(Plan({"/bin/sh", "-c", script}), {.serialise_key = "repository"});
  EXPECT_EQ(runner_->running(), 1u);
  EXPECT_EQ(Finish(first).exit_code, 0);
  EXPECT_EQ(Finish(second).exit_code, 0);
}

TEST_F(RunnerTest, LongOutputIsWholeInTheStore) {
  const Execution execution =
      Shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done");
  EXPECT_LE(execution.out.text.size(), policy_->limits.output_inline);
  EXPECT_TRUE(execution.out.text.starts_with("line 0\n"));
  EXPECT_TRUE(execution.out.text.ends_with("line 19999\n"));
  const auto chunk = store_->Read(execution.out.uri);
  ASSERT_TRUE(chunk && *chunk);
  EXPECT_EQ((*chunk)->total, execution.out.total_bytes);
  EXPECT_EQ(store_->List().front().name, "sh: stdout");
}

TEST_F(RunnerTest, WithoutCaptureTheSinkAloneHasTheOutput) {
  Gate sink;
  const Execution execution = Shell("echo out; echo err >&2", {.sink = &sink, .capture = false});
  EXPECT_EQ(sink.out, "out\n");
  EXPECT_EQ(sink.err, "err\n");
  EXPECT_EQ(execution.out.text, "");
  EXPECT_EQ(execution.out.total_bytes, 4u);
}

TEST_F(RunnerTest, BothStreamsShareOneBudget) {
  const auto both = [&](const char* out, const char* err) {
    return Shell("head -c " + std::string(out) + " /dev/zero | tr '\\0' x; head -c " + err +
                 " /dev/zero | tr '\\0' y >&2");
  };
  const std::uint64_t budget = policy_->limits.output_inline;
  const Execution long_both = both("1000000", "1000000");
  EXPECT_LE(long_both.out.text.size() + long_both.err.text.size(), budget);
  EXPECT_GT(long_both.out.text.size(), budget / 3);
  EXPECT_GT(long_both.err.text.size(), budget / 3);
  const Execution one = both("1000000", "100");
  EXPECT_EQ(one.err.text, std::string(100, 'y'));
  EXPECT_LE(one.out.text.size() + 100, budget);
  EXPECT_GT(one.out.text.size(), budget - 1000);
  const Execution fit = both("20000", "4576");
  EXPECT_EQ(fit.out.text.size() + fit.err.text.size(), budget);
  EXPECT_EQ(fit.out.uri + fit.err.uri, "");
}

TEST_F(RunnerTest, AnOrderThatADeadWorkerHasNotBegunIsGivenToAnother) {
  UseFakeWorker();
  const Execution execution = Run({"/fake", "is-killed-early", "2"});
  EXPECT_EQ(execution.outcome, Outcome::kExited) << execution.failure;
  EXPECT_EQ(execution.out.text, "began\n");
  EXPECT_EQ(fs::file_size(base_ / "project/killed"), 2u);
}

TEST_F(RunnerTest, SoIsOneThatIsLongInDying) {
  UseFakeWorker();
  const Execution execution = Run({"/fake", "is-killed-early", "2", "slowly"});
  EXPECT_EQ(execution.outcome, Outcome::kExited) << execution.failure;
  EXPECT_EQ(execution.out.text, "began\n");
}

TEST_F(RunnerTest, ThatIsNotTriedForEver) {
  UseFakeWorker();
  const Execution execution = Run({"/fake", "is-killed-early", "1000"});
  EXPECT_EQ(execution.outcome, Outcome::kSignaled);
  EXPECT_EQ(fs::file_size(base_ / "project/killed"), 3u);
}

void KillChildren() {
  std::ifstream list("/proc/self/task/" + std::to_string(getpid()) + "/children");
  for (pid_t pid = 0; list >> pid;) kill(pid, SIGKILL);
}

TEST_F(RunnerTest, TheCallAfterAllWorkersAndLaunchersWereKilledSucceeds) {
  for (int i = 0; i < 50; ++i) {
    const Execution execution = Shell("echo it runs");
    EXPECT_EQ(execution.out.text, "it runs\n") << i << " " << execution.failure;
    KillChildren();
  }
}

TEST_F(RunnerTest, WhatHasBegunIsNotRunAgain) {
  const auto pending = Start(Plan({"/bin/sh", "-c", "echo x >>runs; echo begun; sleep 60"}));
  std::error_code absent;
  RunLoopUntil([&] { return fs::file_size(base_ / "project/runs", absent) == 2; });
  KillChildren();
  EXPECT_EQ(Finish(pending).outcome, Outcome::kSignaled);
  EXPECT_EQ(fs::file_size(base_ / "project/runs"), 2u);
}

// Another server of ours: it holds the lock, and nothing else.
class TwoServersTest : public RunnerTest {
 protected:
  TwoServersTest() {
    Stop();
    runner_ = std::make_unique<Runner>(&loop_,
                                       RunnerConfig{.worker_path = FromEnvironment("PA_WORKER"),
                                                    .tmp_base = base_ / "tmp",
                                                    .state_home = base_ / "state"},
                                       *store_);
    const fs::path directory = base_ / "state/project-actions/repositories";
    fs::create_directories(directory);
    lock_.reset(
        open(RepositoryLockPath(directory, key_).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(flock(lock_.get(), LOCK_EX | LOCK_NB), 0);
  }
  std::string key_ = base_ / "project";
  UniqueFd lock_;
};

TEST_F(TwoServersTest, TakeTurnsInOneRepositoryAndNobodyElseWaits) {
  RunRecord record;
  const auto waits =
      Start(Plan({"/bin/sh", "-c", "echo mine"}), {.serialise_key = key_, .record = &record});
  EXPECT_EQ(Shell("echo free").out.text, "free\n");
  const Execution elsewhere =
      Finish(Start(Plan({"/bin/sh", "-c", "echo free"}), {.serialise_key = base_}));
  EXPECT_EQ(elsewhere.out.text, "free\n") << elsewhere.failure;
  EXPECT_FALSE(waits->execution);
  ASSERT_TRUE(record.queue.calls_before);
  EXPECT_EQ(record.queue.calls_before(), 1U);
  lock_.reset();
  EXPECT_EQ(Finish(waits).out.text, "mine\n");
  EXPECT_FALSE(record.queue.calls_before);
  const UniqueFd again(
      open(RepositoryLockPath(base_ / "state/project-actions/repositories", key_).c_str(),
           O_RDWR | O_CLOEXEC));
  EXPECT_EQ(flock(again.get(), LOCK_EX | LOCK_NB), 0) << "given back";
}

TEST_F(TwoServersTest, ForWantOfDescriptorsNothingRunsWithoutItsTurn) {
  lock_.reset();
  const RunOptions options{.serialise_key = key_};
  EXPECT_EQ(Finish(Start(Plan({"/bin/true"}), options)).exit_code, 0);
  const auto pending = Start(Plan({"/bin/true"}), options);
  const testing::FewDescriptors none(0);
  const Execution execution = Finish(pending);
  EXPECT_EQ(execution.outcome, Outcome::kSetupFailed);
  EXPECT_EQ(execution.failed_errno, EMFILE);
  EXPECT_NE(execution.failure.find("/repositories/"), std::string::npos) << execution.failure;
}

TEST_F(TwoServersTest, WhoWaitsForAnotherServerIsCancelledAndTimesOutAllTheSame) {
  CancelSource cancel;
  const auto cancelled =
      Start(Plan({"/bin/sh", "-c", "touch started"}), {.cancel = &cancel, .serialise_key = key_});
  cancel.Cancel();
  EXPECT_EQ(Finish(cancelled).outcome, Outcome::kCancelled);
  const auto late =
      Start(Plan({"/bin/sh", "-c", "touch started"}), {.serialise_key = key_}, milliseconds(50));
  const Execution execution = Finish(late);
  EXPECT_EQ(execution.outcome, Outcome::kTimedOut);
  EXPECT_EQ(execution.time_limit, milliseconds(50));
  EXPECT_FALSE(fs::exists(base_ / "project/started"));
}

TEST_F(RunnerTest, ShutdownEndsWhatRunsAndRefusesWhatWaits) {
  policy_->limits.concurrent = 1;
  const auto running = Start(Plan({"/bin/sh", "-c", "trap '' TERM; echo up; sleep 60"}));
  const auto waiting = Start(Plan({"/bin/sh", "-c", "touch started"}));
  bool stopped = false;
  runner_->Shutdown([&] { stopped = true; });
  EXPECT_FALSE(stopped);
  RunLoopUntil([&] { return stopped; });
  ASSERT_TRUE(running->execution && waiting->execution);
  EXPECT_EQ(running->execution->outcome, Outcome::kCancelled);
  EXPECT_EQ(waiting->execution->outcome, Outcome::kCancelled);
  EXPECT_EQ(Shell("touch started").outcome, Outcome::kCancelled);
  EXPECT_FALSE(fs::exists(base_ / "project/started"));
  EXPECT_TRUE(fs::is_empty(base_ / "tmp"));
}

// With a worker that has not left when the first one ends, and a child that is somebody else's.
TEST_F(RunnerTest, ItCanBeShutDownTwice) {
  UseFakeWorker();
  EXPECT_EQ(Fake("lingers").outcome, Outcome::kExited);
  const auto shut_down = [&] {
    bool stopped = false;
    runner_->Shutdown([&] { stopped = true; });
    RunLoopUntil([&] { return stopped; });
  };
  shut_down();
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  ASSERT_GT(child, 0);  // kill(-1) would reach everybody
  shut_down();
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it lives";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_F(RunnerTest, ShutdownLetsNoCallBegin) {
  RunQueue& queue = runner_->beginnings().For(policy::Purpose::kBuild);
  std::vector<bool> began;
  const auto begun = queue.Enter("", {1, 1}, [&](bool granted) { began.push_back(granted); });
  const auto waits = queue.Enter("", {1, 1}, [&](bool granted) { began.push_back(granted); });
  EXPECT_EQ(began, std::vector{true});
  bool stopped = false;
  runner_->Shutdown([&] { stopped = true; });
  EXPECT_EQ(began, (std::vector{true, false}));
  queue.Leave(begun);
  queue.Leave(waits);
  RunLoopUntil([&] { return stopped; });
}

TEST_F(RunnerTest, WhileItShutsDownOnlyWhatFinishesACallBegins) {
  shutdown_grace_ = std::chrono::hours(1);
  UseWorker(FromEnvironment("PA_WORKER"));
  CancelSource cancel;
  runner_->BeginShutdown();
  EXPECT_EQ(Shell("touch started", {.cancel = &cancel}).outcome, Outcome::kCancelled);
  EXPECT_FALSE(fs::exists(base_ / "project/started"));
  EXPECT_EQ(Shell("echo it is put back").out.text, "it is put back\n");
}

TEST_F(RunnerTest, WhoeverDoesNotEndIsEndedByForceWhileCallsStillEnd) {
  shutdown_grace_ = milliseconds(1);
  UseWorker(FromEnvironment("PA_WORKER"));
  const auto deaf = Start(Plan({"/bin/sh", "-c", "trap '' TERM; touch up; echo up; sleep 60"}));
  RunLoopUntil([&] { return fs::exists(base_ / "project/up"); });
  runner_->BeginShutdown();
  EXPECT_EQ(Finish(deaf).outcome, Outcome::kCancelled);
  EXPECT_EQ(Shell("touch started").outcome, Outcome::kCancelled) << "nor does anything begin then";
  EXPECT_FALSE(fs::exists(base_ / "project/started"));
}

// It waits for whoever has its temporary file, and listens to nobody.
TEST_F(RunnerTest, AWorkerThatWorksAloneIsEndedByForceToo) {
  const fs::path temp = base_ / "project" / (".pa-" + Hex(Sha256Of("file")).substr(0, 16));
  const UniqueFd holder(open(temp.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(flock(holder.get(), LOCK_EX), 0);
  const worker::WriteHeader header{.size = 1};
  purpose_ = policy::Purpose::kWriteFile;
  CommandPlan plan = Plan({"write"});
  plan.action = worker::Action::kWriteFile;
  plan.executable.clear();
  plan.argv.clear();
  plan.env.clear();
  plan.file = "file";
  plan.stdin_data = std::string(reinterpret_cast<const char*>(&header), sizeof header) + "x";
  const auto writes = Start(std::move(plan));
  runner_->BeginShutdown();
  bool overdue = false;  // a guardian would be, after grace and slack
  TimerHandle timer(&loop_);
  timer.Start(std::chrono::seconds(6), [&] { overdue = true; });
  RunLoopUntil([&] { return writes->execution || overdue; });
  EXPECT_FALSE(overdue);
  EXPECT_EQ(Finish(writes).outcome, Outcome::kCancelled) << writes->execution->failure;
}

TEST_F(RunnerTest, ALookForWhichNobodyWaitsLooksNoFurther) {
  for (const char* name : {"a", "b", "c"}) fs::create_directory(base_ / "project" / name);
  for (const bool shutdown : {false, true}) {
    UseWorker(FromEnvironment("PA_WORKER"));
    testing::HeldOpens held({base_ / "project/a", base_ / "project/b", base_ / "project/c"});
    if (!held) GTEST_SKIP() << "no open can be held up: " << held.why_not();
    CancelSource cancel;
    const auto pending = Start(Plan({"/bin/sh", "-c", "touch started"}), {.cancel = &cancel});
    while (!held.Waits()) uv_run(&loop_, UV_RUN_NOWAIT);
    shutdown ? runner_->BeginShutdown() : cancel.Cancel();
    // Who gives it up ends its process in one of the next turns of the loop. Until then the look
    // waits where it is held.
    for (int turn = 0; turn < 5; ++turn) uv_run(&loop_, UV_RUN_NOWAIT);
    int opened = 0;
    while (!pending->execution) {
      if (held.Waits() && held.LetGo()) ++opened;
      uv_run(&loop_, UV_RUN_NOWAIT);
    }
    EXPECT_LE(opened, 1) << shutdown << ": the janitor is killed, perhaps before its first open";
    EXPECT_EQ(pending->execution->outcome, Outcome::kCancelled);
    EXPECT_FALSE(fs::exists(base_ / "project/started"));
  }
}

TEST_F(RunnerTest, TheSpecForPeopleNamesItsPathsAndNoTmpdir) {
  const CommandPlan plan = Plan({"/bin/true"});
  const policy::Allow allow = Allowed(plan, milliseconds(1000));
  EXPECT_EQ(Run({"/bin/true"}).exit_code, 0);
  const Result<worker::WorkerSpec> spec = worker::DecodeSpec(last_spec_);
  ASSERT_TRUE(spec) << spec.error().Message();
  EXPECT_EQ(spec->argv, plan.argv) << "not the probe's";
  EXPECT_FALSE(spec->has_ruleset_fd);
  std::vector<sandbox::PathGrant> paths = allow.confinement().paths;
  for (auto& grant : paths)
    grant = {grant.path, grant.access, grant.reason};  // what an order carries
  EXPECT_EQ(spec->paths, paths);
  EXPECT_EQ(spec->tmp_dir, "");
  EXPECT_EQ(spec->working_directory, base_ / "project");
}

TEST_F(RunnerTest, AWrapperScriptMayStandBeforeTheWorker) {
  const fs::path wrapper = base_ / "wrapper";
  std::ofstream(wrapper) << "#!/bin/sh\nexec env " << FromEnvironment("PA_WORKER") << " \"$@\"\n";
  chmod(wrapper.c_str(), 0700);
  UseWorker(wrapper);
  EXPECT_EQ(Shell("echo hello").out.text, "hello\n");
}

TEST_F(RunnerTest, AMissingExecutableFailsAtExecuteAndSaysSo) {
  const Execution execution = Run({"/nonexistent/program"});
  EXPECT_EQ(execution.outcome, Outcome::kSetupFailed);
  EXPECT_EQ(execution.failed_step, worker::Step::kExecute);
  EXPECT_EQ(execution.failed_errno, ENOENT);
  EXPECT_NE(execution.failure.find("/nonexistent/program"), std::string::npos) << execution.failure;
}

// Faults, one layer after the other: nothing runs, and the error names the step.

TEST_F(RunnerTest, AMissingWorkerIsNamed) {
  UseWorker("/nonexistent/worker");
  const Execution execution = Shell("touch started");
  EXPECT_EQ(execution.outcome, Outcome::kSetupFailed);
  EXPECT_TRUE(execution.failure.starts_with("posix_spawn \"/nonexistent/worker\": ENOENT"));
  EXPECT_EQ(execution.failed_errno, ENOENT);
}

TEST_F(RunnerTest, WithoutTmpdirNothingRuns) {
  runner_ = nullptr;
  runner_ = std::make_unique<Runner>(
      &loop_, RunnerConfig{FromEnvironment("PA_WORKER"), base_ / "absent"}, *store_);
  const Execution execution = Shell("touch started");
  EXPECT_EQ(execution.outcome, Outcome::kSetupFailed);
  EXPECT_TRUE(execution.failure.starts_with("mkdtemp ")) << execution.failure;
}

// A worker that fails at `step`.
fs::path Failing(const fs::path& directory, const std::string& step, int code = EPERM) {
  const fs::path wrapper = directory / "wrapper";
  std::ofstream(wrapper) << "#!/bin/sh\nPA_FAIL_STEP='" << step << "' PA_FAIL_ERRNO=" << code
                         << " exec " << FromEnvironment("PA_WORKER_FAULTS") << " \"$@\"\n";
  chmod(wrapper.c_str(), 0700);
  return wrapper;
}

TEST_F(RunnerTest, EachStepOfTheWorkerThatFailsIsNamed) {
  for (const char* step : {"landlock", "seccomp", "limits", "spawn", "no_new_privs"}) {
    UseWorker(Failing(base_, step));
    const Execution execution = Shell("touch started");
    EXPECT_EQ(execution.outcome, Outcome::kSetupFailed) << step;
    EXPECT_TRUE(execution.failure.starts_with(step)) << execution.failure;
    EXPECT_EQ(execution.failed_errno, EPERM);
    EXPECT_FALSE(fs::exists(base_ / "project/started"));
  }
}

class NamespacesTest : public RunnerTest {
 protected:
  void SetUp() override {
    policy_->namespaces = sandbox::Namespaces::kRequire;
    const Execution tried = Shell("true");
    if (tried.failed_step == worker::Step::kNamespaces && tried.failed_errno == EPERM)
      GTEST_SKIP() << "no namespaces are granted here: " << tried.failure;
    EXPECT_EQ(tried.exit_code, 0) << tried.failure;
  }
};

TEST_F(NamespacesTest, TheCommandSeesItsProjectAndNothingElse) {
  std::ofstream(base_ / "secret") << "key";
  const Execution execution =
      Shell("pwd; cat ../secret; echo x > mine && cat mine; set -- /proc/[0-9]*; echo $#");
  // The guardian and the shell.
  EXPECT_EQ(execution.out.text, (base_ / "project").string() + "\nx\n2\n") << execution.err.text;
  EXPECT_NE(execution.err.text.find("No such file"), std::string::npos) << execution.err.text;
  EXPECT_EQ(runner_->Kernel().namespaces, sandbox::KernelFeatures::Granted::kYes);
}

TEST_F(NamespacesTest, TmpdirAndSharedMemoryAreThereAndEmptyForTheNext) {
  const std::string script =
      "ls -A $TMPDIR /dev/shm | wc -l; echo x >$TMPDIR/a && echo y >/dev/shm/b && cat $TMPDIR/a "
      "/dev/shm/b; stat -c %a $TMPDIR";
  for (int i = 0; i < 2; ++i) {
    const Execution execution = Shell(script);
    EXPECT_EQ(execution.out.text, "3\nx\ny\n700\n") << execution.err.text;
  }
}

TEST_F(NamespacesTest, WhereTheProjectIsElsewhereTmpIsPrivate) {
  std::string name = "/var/tmp/runner-XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path home = name;
  policy_->roots = {home};
  const Execution execution = Shell("echo $TMPDIR; touch /tmp/mine && ls /tmp");
  EXPECT_EQ(execution.out.text, "/tmp\nmine\n") << execution.failure << execution.err.text;
  EXPECT_FALSE(fs::exists("/tmp/mine"));
  fs::remove_all(home);
}

TEST_F(NamespacesTest, ASlotIsUsedAgainButNotForEver) {
  std::set<std::string> seen;
  for (int i = 0; i < 70; ++i) seen.insert(Shell("echo $TMPDIR").out.text);
  EXPECT_EQ(seen.size(), 2u);
}

TEST_F(NamespacesTest, RequiredAndNotGrantedNothingRuns) {
  UseWorker(Failing(base_, "namespaces"));
  policy_ = std::make_shared<policy::Policy>(*policy_);
  const Execution execution = Shell("touch started");
  EXPECT_EQ(execution.outcome, Outcome::kSetupFailed);
  EXPECT_EQ(execution.failed_step, worker::Step::kNamespaces);
  EXPECT_FALSE(fs::exists(base_ / "project/started"));
}

TEST_F(NamespacesTest, NotGrantedTheOtherWallsHold) {
  UseWorker(Failing(base_, "namespaces"));
  policy_ = std::make_shared<policy::Policy>(*policy_);
  policy_->namespaces = sandbox::Namespaces::kAuto;
  std::ofstream(base_ / "secret") << "key";
  const Execution execution = Shell("cat ../secret; touch started");
  EXPECT_EQ(execution.exit_code, 0) << execution.failure;
  EXPECT_NE(execution.err.text.find("Permission denied"), std::string::npos) << execution.err.text;
  EXPECT_EQ(runner_->Kernel().namespaces, sandbox::KernelFeatures::Granted::kNo);
  EXPECT_NE(runner_->Kernel().no_namespaces, "");
}

// Were it to probe by itself, the first would be given namespaces again, and fail.
TEST_F(RunnerTest, WhoComesWhileAPolicyIsProbedAwaitsThat) {
  const fs::path launches = base_ / "launches";
  const fs::path wrapper = base_ / "wrapper";
  std::ofstream(wrapper) << "#!/bin/sh\necho >>" << launches << "\n[ $(wc -l <" << launches
                         << ") -lt 2 ] || while [ ! -e " << base_ / "go" << " ]; do sleep 0.01; "
                         << "done\nPA_FAIL_STEP=namespaces exec "
                         << FromEnvironment("PA_WORKER_FAULTS") << " \"$@\"\n";
  chmod(wrapper.c_str(), 0700);
  UseWorker(wrapper);
  const auto launched = [&] {
    std::ifstream file(launches);
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  };
  policy_->namespaces = sandbox::Namespaces::kAuto;
  const auto first = Start(Plan({"/bin/true"}));
  while (launched() < 2) uv_run(&loop_, UV_RUN_NOWAIT);  // it is probed without them
  const auto second = Start(Plan({"/bin/true"}));
  std::ofstream(base_ / "go").close();
  for (const auto& one : {first, second}) {
    const Execution execution = Finish(one);
    EXPECT_EQ(execution.exit_code, 0) << execution.failure;
    EXPECT_FALSE(execution.namespaces);
  }
  EXPECT_EQ(launched(), 2) << "with namespaces, and without";
}

// A worker that begins when there is the file `go`, and whose probe ends in that way.
fs::path Waiting(const fs::path& base, const std::string& probe) {
  const fs::path wrapper = base / "wrapper";
  std::ofstream(wrapper) << "#!/bin/sh\nwhile [ ! -e " << base / "go"
                         << " ]; do sleep 0.01; done\nPA_FAKE_PROBE=" << probe << " exec "
                         << FromEnvironment("PA_FAKE_WORKER") << " \"$@\"\n";
  chmod(wrapper.c_str(), 0700);
  return wrapper;
}

// Each would else wait in turn for as long as it takes a launcher not to answer.
TEST_F(RunnerTest, WhoComesWhileAProbeFailsSharesThatAndWhoComesLaterTriesAgain) {
  UseWorker(Waiting(base_, "untried"));
  std::vector<std::shared_ptr<Pending>> pending;
  for (int i = 0; i < 3; ++i) pending.push_back(Start(Plan({"/fake", "echo", "ran"})));
  CancelSource cancel;
  const auto cancelled = Start(Plan({"/fake", "echo", "ran"}), {.cancel = &cancel});
  cancel.Cancel();
  const auto other_policy = std::exchange(policy_, std::make_shared<policy::Policy>(*policy_));
  const auto other = Start(Plan({"/fake", "echo", "ran"}));
  std::ofstream(base_ / "go").close();
  for (const auto& one : pending) {
    EXPECT_TRUE(Finish(one).failure.starts_with("probe: nothing was tried"))
        << one->execution->failure;
  }
  EXPECT_EQ(Finish(cancelled).outcome, Outcome::kCancelled);
  EXPECT_EQ(Finish(other).outcome, Outcome::kSetupFailed) << "of another policy it tries by itself";
  EXPECT_EQ(fs::file_size(base_ / "project/probes"), 2u);
  policy_ = other_policy;
  EXPECT_EQ(Run({"/fake", "echo", "ran"}).outcome, Outcome::kSetupFailed);
  EXPECT_EQ(fs::file_size(base_ / "project/probes"), 3u);
}

TEST_F(RunnerTest, AProbeThatIsCancelledIsNobodyElses) {
  UseWorker(Waiting(base_, "cancelled"));
  CancelSource cancel;
  const auto first = Start(Plan({"/fake", "echo", "ran"}), {.cancel = &cancel});
  const auto second = Start(Plan({"/fake", "echo", "ran"}));
  cancel.Cancel();
  std::ofstream(base_ / "go").close();
  EXPECT_EQ(Finish(first).outcome, Outcome::kCancelled);
  EXPECT_EQ(Finish(second).outcome, Outcome::kSetupFailed);
  EXPECT_EQ(fs::file_size(base_ / "project/probes"), 2u);
}

// A directory that holds the server's own TMPDIR: there is nothing that a command in it must not
// read.
TEST_F(RunnerTest, AProbeThatHadNothingToTryIsTriedAgain) {
  UseWorker(Failing(base_, "namespaces"));
  policy_->namespaces = sandbox::Namespaces::kAuto;
  policy_->roots = {base_};
  Finish(Start(Plan({"/bin/true"})));
  EXPECT_EQ(runner_->Kernel().no_namespaces, "") << "nothing is known";
  CommandPlan plan = Plan({"/bin/true"});
  plan.directory = *policy::ValidateWorkingDirectory(*policy_, "project");
  const Execution execution = Finish(Start(std::move(plan)));
  EXPECT_EQ(execution.exit_code, 0) << execution.failure;
  EXPECT_NE(runner_->Kernel().no_namespaces, "");
}

// Whoever can bring that about would choose his confinement.
TEST_F(NamespacesTest, WantOfMemoryOrDescriptorsIsNoReasonToDoWithout) {
  for (const int code : {ENOMEM, EMFILE, ENFILE, EAGAIN}) {
    UseWorker(Failing(base_, "namespaces", code));
    policy_ = std::make_shared<policy::Policy>(*policy_);
    policy_->namespaces = sandbox::Namespaces::kAuto;
    const Execution execution = Shell("touch started");
    EXPECT_EQ(execution.outcome, Outcome::kSetupFailed) << code;
    EXPECT_EQ(execution.failed_errno, code);
    EXPECT_FALSE(fs::exists(base_ / "project/started")) << code;
  }
}

TEST_F(NamespacesTest, AViewThatCannotBeMadeIsAFailureAndNoReasonToDoWithout) {
  UseWorker(Failing(base_, "mounts"));
  policy_ = std::make_shared<policy::Policy>(*policy_);
  policy_->namespaces = sandbox::Namespaces::kAuto;
  const Execution execution = Shell("touch started");
  EXPECT_EQ(execution.failed_step, worker::Step::kMounts) << execution.failure;
  EXPECT_FALSE(fs::exists(base_ / "project/started"));
}

class LoopbackTest : public NamespacesTest {
 protected:
  LoopbackTest() {
    policy_->network = sandbox::Network::kLoopback;
    policy_->view_programs.build =
        *sandbox::CompileSeccomp(sandbox::SeccompProfile::kBuild, sandbox::Network::kLoopback,
                                 sandbox::DetectKernel().landlock_abi, sandbox::Sight::kOwnView);
  }
  Result<CommandNetwork> NetworkOf(const RunRecord& record) {
    std::optional<Result<CommandNetwork>> network;
    Detach(record.own_network->Network(),
           [&](Result<CommandNetwork> found) { network = std::move(found); });
    RunLoopUntil([&] { return network.has_value(); });
    return *network;
  }

  static constexpr const char* kWhere = "readlink /proc/self/ns/net /proc/self/ns/pid";
};

TEST_F(LoopbackTest, ACommandRunsInTheNetworkOfAnother) {
  RunRecord record;
  CancelSource cancel;
  const auto job =
      Start(Plan({"/bin/sh", "-c", std::string(kWhere) + " > new; mv new where; echo; sleep 100"}),
            {.cancel = &cancel, .record = &record});
  RunLoopUntil([&] { return fs::exists(base_ / "project/where") && record.own_network; });
  const Result<CommandNetwork> network = NetworkOf(record);
  ASSERT_TRUE(network) << network.error().Message();
  EXPECT_EQ(*NetworkOf(record), *network) << "the same each time";
  const auto lines = [](const std::string& text) {
    std::istringstream words(text);
    std::string net;
    std::string pid;
    words >> net >> pid;
    return std::pair(net, pid);
  };
  std::ostringstream where;
  where << std::ifstream(base_ / "project/where").rdbuf();
  const auto [its_net, its_pid] = lines(where.str());
  // In turn with others, and also after everything that was kept is discarded.
  for (int i = 0; i < 4; ++i) {
    if (i == 2) runner_->Renew();
    const Execution joined = Shell(kWhere, {.network = *network});
    EXPECT_EQ(joined.exit_code, 0) << joined.failure;
    const auto [net, pid] = lines(joined.out.text);
    EXPECT_EQ(net, its_net);
    EXPECT_NE(pid, its_pid);
    EXPECT_NE(lines(Shell(kWhere).out.text).first, its_net) << "who does not ask has its own";
  }
  EXPECT_FALSE((*network)->ended);
  cancel.Cancel();
  Finish(job);
  EXPECT_EQ(record.own_network, nullptr);
  EXPECT_TRUE((*network)->ended);
}

// The descriptor cannot be received then; the command is not to blame.
TEST_F(LoopbackTest, WantOfDescriptorsEndsNoCommand) {
  RunRecord record;
  const auto job =
      Start(Plan({"/bin/sh", "-c", "echo; until [ -e go ]; do sleep 0.01; done; echo ran"}),
            {.record = &record});
  RunLoopUntil([&] { return record.own_network != nullptr; });
  {
    const UniqueFd lowest(open("/dev/null", O_RDONLY | O_CLOEXEC));
    const testing::FewDescriptors few(static_cast<rlim_t>(lowest.get()) + 1);
    std::vector<UniqueFd> all;
    for (int fd = open("/dev/null", O_RDONLY | O_CLOEXEC); fd >= 0;) {
      all.emplace_back(fd);
      fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    const Result<CommandNetwork> refused = NetworkOf(record);
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused ? 0 : refused.error().sys_errno, EMFILE);
  }
  const Result<CommandNetwork> network = NetworkOf(record);
  EXPECT_TRUE(network) << network.error().Message();
  std::ofstream(base_ / "project/go").close();
  EXPECT_EQ(Finish(job).out.text, "\nran\n");
}

TEST_F(LoopbackTest, WhatIsNoNetworkOfOursIsNotEntered) {
  for (const char* file : {"/dev/null", "/proc/self/ns/net"}) {
    const auto wrong = std::make_shared<SharedNetwork>(
        SharedNetwork{.fd = UniqueFd(open(file, O_RDONLY | O_CLOEXEC))});
    if (geteuid() == 0 && std::string_view(file) != "/dev/null") continue;  // root owns that, too
    const Execution execution = Shell("touch started", {.network = wrong});
    EXPECT_EQ(execution.outcome, Outcome::kSetupFailed) << file;
    EXPECT_EQ(execution.failed_step, worker::Step::kNamespaces) << execution.failure;
    EXPECT_FALSE(fs::exists(base_ / "project/started"));
  }
  EXPECT_EQ(Shell("true").exit_code, 0) << "namespaces are granted all the same";
}

TEST_F(LoopbackTest, WhoHasEndedTellsNobody) {
  RunRecord record;
  const auto job = Start(Plan({"/bin/sh", "-c", "sleep 0.1"}), {.record = &record});
  RunLoopUntil([&] { return record.own_network != nullptr; });
  std::optional<Result<CommandNetwork>> network;
  CancelSource cancel;
  Detach(record.own_network->Network(),
         [&](Result<CommandNetwork> found) { network = std::move(found); });
  Finish(job);
  ASSERT_TRUE(network) << "answered before the command is gone";
  EXPECT_EQ(record.own_network, nullptr);
}

TEST_F(LoopbackTest, LoopbackIsTheCommandsOwnOrRefused) {
  const Execution execution = Shell(
      "exec 3<>/dev/null; bash -c ': </dev/tcp/127.0.0.1/1' 2>&1 | grep -o 'Connection refused' | "
      "uniq");
  EXPECT_EQ(execution.out.text, "Connection refused\n") << execution.err.text;
  UseWorker(Failing(base_, "namespaces"));
  policy_ = std::make_shared<policy::Policy>(*policy_);
  policy_->namespaces = sandbox::Namespaces::kAuto;
  const Execution refused = Shell("touch started");
  EXPECT_EQ(refused.outcome, Outcome::kSetupFailed);
  EXPECT_NE(refused.failure.find("loopback"), std::string::npos) << refused.failure;
  EXPECT_FALSE(fs::exists(base_ / "project/started"));
}

TEST_F(RunnerTest, AProbeThatTriedNothingRunsNothing) {
  for (const char* way : {"cancelled", "untried", ""}) {
    const fs::path wrapper = base_ / "wrapper";
    std::ofstream(wrapper) << "#!/bin/sh\nPA_FAKE_PROBE='" << way << "' exec "
                           << FromEnvironment("PA_FAKE_WORKER") << " \"$@\"\n";
    chmod(wrapper.c_str(), 0700);
    UseWorker(wrapper);
    const Execution execution = Run({"/fake", "echo", "ran"});
    const bool tried = *way == '\0';
    EXPECT_EQ(execution.outcome, tried ? Outcome::kExited : Outcome::kSetupFailed) << way;
    EXPECT_EQ(execution.out.text, tried ? "ran\n" : "");
    EXPECT_EQ(execution.failure.starts_with("probe: nothing was tried"), !tried);
  }
}

TEST_F(RunnerTest, RunningOutOfDescriptorsIsSurvived) {
  EXPECT_EQ(Shell("true").exit_code, 0);
  const UniqueFd highest(open("/dev/null", O_RDONLY | O_CLOEXEC));
  rlimit old{};
  getrlimit(RLIMIT_NOFILE, &old);
  int failures = 0;
  for (rlim_t room = 0; room < 16; ++room) {
    const rlimit low{static_cast<rlim_t>(highest.get()) + 1 + room, old.rlim_max};
    CommandPlan plan = Plan({"/bin/sh", "-c", "echo ran"});
    setrlimit(RLIMIT_NOFILE, &low);
    const Execution execution = Finish(Start(std::move(plan)));
    setrlimit(RLIMIT_NOFILE, &old);
    if (execution.outcome == Outcome::kExited) continue;
    ++failures;
    EXPECT_EQ(execution.failed_errno, EMFILE) << execution.failure;
    EXPECT_EQ(execution.out.text, "");
  }
  EXPECT_GT(failures, 3);
  EXPECT_EQ(Shell("echo again").out.text, "again\n");
}

// Soak: many at once, ended at random moments.
TEST_F(RunnerTest, ManyRunsWithRandomCancelsLeaveNothing) {
  policy_->limits.concurrent = 8;
  EXPECT_EQ(Shell("true").exit_code, 0);
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same every time
  const std::size_t before = OpenDescriptors();
  int cancelled = 0;
  for (int round = 0; round < 25; ++round) {
    std::vector<std::unique_ptr<CancelSource>> cancels;
    std::vector<std::shared_ptr<Pending>> pending;
    for (int i = 0; i < 20; ++i) {
      cancels.push_back(std::make_unique<CancelSource>());
      const std::string script = random() % 2 == 0 ? "true" : "sleep 5 & sleep 5";
      pending.push_back(Start(Plan({"/bin/sh", "-c", script}), {.cancel = cancels.back().get()}));
    }
    for (const auto& cancel : cancels) {
      for (auto turns = random() % 4; turns > 0; --turns) uv_run(&loop_, UV_RUN_NOWAIT);
      cancel->Cancel();
    }
    for (const auto& one : pending) {
      const Execution execution = Finish(one);
      EXPECT_TRUE(execution.outcome == Outcome::kExited || execution.outcome == Outcome::kCancelled)
          << execution.failure;
      cancelled += execution.outcome == Outcome::kCancelled;
    }
  }
  EXPECT_GT(cancelled, 100);
  // Free slots keep their rulesets, and workers wait.
  EXPECT_LE(OpenDescriptors(), before + policy_->limits.concurrent + kMaxAhead);
  // Children live, the launchers; the loop has soon reaped the dead.
  RunLoopUntil([] {
    siginfo_t info{};
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
  });
}

}  // namespace
}  // namespace pa
