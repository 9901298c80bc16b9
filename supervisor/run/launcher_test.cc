#include "supervisor/run/launcher.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <thread>

#include "base/packet.h"
#include "supervisor/loop/loop.h"
#include "supervisor/run/runner_test_support.h"
#include "tests/support/processes.h"
#include "tests/support/run_until.h"
#include "worker/status.h"

namespace pa {
namespace {

sandbox::SeccompProgram Program(const std::string& text) {
  const std::size_t whole = (text.size() + 7) / 8 * 8;  // instructions have 8 bytes
  return std::make_shared<const std::string>(text + std::string(whole - text.size(), '\0'));
}

// Workers here are fake ones that get no spec, and end with 1.
class LauncherTest : public ::testing::Test {
 protected:
  LauncherTest()
      : null_(open("/dev/null", O_RDWR | O_CLOEXEC)), launchers_(loop_.get(), UseFake()) {
    std::string path = ::testing::TempDir() + "launcher-XXXXXX";
    directory_ = mkdtemp(path.data());
  }
  ~LauncherTest() override { fs::remove_all(directory_); }

  static std::string UseFake() { return FromEnvironment("PA_FAKE_WORKER"); }

  std::string Script(const std::string& body) {
    const std::string path = directory_ + "/worker";
    std::ofstream(path) << "#!/bin/sh\n" << body;
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  using Answer = std::optional<Result<LaunchedWorker>>;
  std::shared_ptr<Answer> Ask(Launchers& launchers, const LaunchKind& kind,
                              std::size_t descriptors = 5) const {
    auto answer = std::make_shared<Answer>();
    Detach(launchers.Launch(kind, std::vector<int>(descriptors, null_.get())),
           [answer](Result<LaunchedWorker> worker) { answer->emplace(std::move(worker)); });
    return answer;
  }
  Result<LaunchedWorker> Await(const std::shared_ptr<Answer>& answer) {
    testing::RunUntil(loop_.get(), [&] { return answer->has_value(); });
    return std::move(**answer);
  }

  // A launcher that waits until four have asked, and is then what `command` makes of it.
  std::string Held(const std::string& command) {
    return Script("while [ ! -e " + directory_ + "/go ]; do sleep 0.01; done\n" +
                  "echo launched >>" + directory_ + "/dump\n" + command + " \"$@\"\n");
  }
  std::vector<std::shared_ptr<Answer>> AskFourAtOnce(Launchers& launchers) const {
    std::vector<std::shared_ptr<Answer>> asked;
    for (int i = 0; i < 4; ++i) asked.push_back(Ask(launchers, {.program = Program("one")}));
    std::ofstream(directory_ + "/go").close();
    return asked;
  }

  Result<pid_t> Launch(Launchers& launchers, const sandbox::SeccompProgram& program) {
    Result<LaunchedWorker> worker = Await(Ask(launchers, {.program = program}));
    if (!worker) return std::unexpected(worker.error());
    controls_.push_back(std::move(worker->control));
    launchers.AskAhead();
    return worker->pid;
  }

  // The launcher that forked `worker`, which is waited for.
  static pid_t Reap(const Result<pid_t>& worker) {
    EXPECT_TRUE(worker) << worker.error().Message();
    int status = 0;
    EXPECT_EQ(waitpid(*worker, &status, 0), *worker) << "it is our child";
    EXPECT_EQ(WEXITSTATUS(status), 1);
    return *worker;
  }

  std::string Dump() {
    std::ifstream file(directory_ + "/dump");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Loop loop_;
  std::string directory_;
  UniqueFd null_;
  std::vector<UniqueFd> controls_;
  Launchers launchers_;
};

// Oldest first.
std::vector<pid_t> OurChildren() {
  std::ifstream list("/proc/self/task/" + std::to_string(getpid()) + "/children");
  return {std::istream_iterator<pid_t>(list), {}};
}

// Those of our children that are launchers, or workers that wait, oldest first.
std::vector<pid_t> Children(Launchers& launchers) {
  while (!launchers.AllKnown(false)) usleep(100);
  std::vector<pid_t> found = OurChildren();
  std::erase_if(found, [&](pid_t pid) { return !launchers.Contains(pid); });
  return found;
}

// Waits, without a turn of the loop, until the only launcher has so many workers that nobody has
// reaped. It has then told of all: it sleeps only where it waits for orders.
void AwaitForked(std::size_t workers) {
  EXPECT_TRUE(testing::Eventually([workers] {
    const std::vector<pid_t> children = OurChildren();
    return children.size() > workers && testing::StateOf(children[0]) == 'S';
  }));
}

// Waits until there are two for each of `programs`.
std::vector<pid_t> Contained(Launchers& launchers, std::size_t programs) {
  std::vector<pid_t> found;
  while (found.size() < 2 * programs) found = Children(launchers);
  return found;
}

void KillAndWaitForDeath(pid_t pid) {
  kill(pid, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
}

TEST_F(LauncherTest, EachProgramHasOneLauncherForAllItsWorkers) {
  Reap(Launch(launchers_, Program("one")));
  const pid_t launcher = Contained(launchers_, 1)[0];
  Reap(Launch(launchers_, Program("one")));  // another string, the same program
  EXPECT_EQ(Contained(launchers_, 1)[0], launcher);
  Reap(Launch(launchers_, Program("two")));
  EXPECT_EQ(Contained(launchers_, 2).size(), 4u);
}

TEST_F(LauncherTest, RenewedItServesNobodyWithALauncherThatWasThere) {
  const Result<pid_t> works = Launch(launchers_, Program("one"));
  const std::vector<pid_t> old = Contained(launchers_, 1);
  launchers_.Renew();
  EXPECT_TRUE(Children(launchers_).empty()) << "the launcher, and who waits";
  EXPECT_EQ(kill(*works, 0), 0) << "who works goes on";
  Reap(works);
  Reap(Launch(launchers_, Program("one")));
  for (const pid_t now : Contained(launchers_, 1)) EXPECT_NE(now, old[0]);
}

// Its view and the mounts in it are those of before; nobody may call for long.
TEST_F(LauncherTest, RenewedItEndsOneThatOwesAWorkerWithoutAnotherCall) {
  for (const bool goes_on : {true, false}) {
    Reap(Launch(launchers_, Program("one")));
    const pid_t launcher = Contained(launchers_, 1)[0];
    kill(launcher, SIGSTOP);
    Reap(Launch(launchers_, Program("one")));  // the worker that waited; the next one is asked for
    launchers_.Renew();
    EXPECT_FALSE(launchers_.AllKnown(false));
    if (goes_on) kill(launcher, SIGCONT);
    loop_.Run();  // until there is nothing to wait for
    EXPECT_TRUE(launchers_.AllKnown(false));
    EXPECT_FALSE(HasChildren()) << goes_on;
  }
}

TEST_F(LauncherTest, TheNextWorkerWaitsAlready) {
  Reap(Launch(launchers_, Program("one")));
  const pid_t waiting = Contained(launchers_, 1)[1];
  EXPECT_EQ(Reap(Launch(launchers_, Program("one"))), waiting);
}

TEST_F(LauncherTest, WhoHadToWaitFindsMoreOfThemTheNextTime) {
  Reap(Launch(launchers_, Program("one")));
  const std::vector<pid_t> two = Contained(launchers_, 1);
  const pid_t launcher = two[0];
  for (int i = 0; i < 10; ++i) {  // one launch soon after another: within kAskAheadAfter
    const Result<pid_t> first = Launch(launchers_, Program("one"));
    kill(launcher, SIGSTOP);
    std::jthread later([launcher] {
      usleep(1000);
      kill(launcher, SIGCONT);
    });
    const Result<pid_t> second = Launch(launchers_, Program("one"));
    later.join();
    Reap(first);
    Reap(second);
    if (Children(launchers_).size() > 2) break;
  }
  EXPECT_GT(Children(launchers_).size(), 2u) << "the launcher, and more than one that wait";
  EXPECT_LE(Children(launchers_).size(), 1 + kMaxAhead);
  for (int i = 0; i < 4; ++i) {
    usleep(20'000);
    Reap(Launch(launchers_, Program("one")));
  }
  EXPECT_EQ(Contained(launchers_, 1).size(), 2u) << "calls that come alone need one";
}

TEST_F(LauncherTest, WithAViewNobodyIsAskedForUntilItIsTime) {
  LaunchKind kind{.view = std::make_shared<const sandbox::View>()};
  const auto launch = [&] {
    const Result<LaunchedWorker> worker = Await(Ask(launchers_, kind));
    ASSERT_TRUE(worker) << worker.error().Message();
    Reap(worker->pid);
  };
  launch();
  EXPECT_EQ(Children(launchers_).size(), 1u) << "the launcher alone";
  launch();  // nobody waits for it: more such calls are to be expected
  EXPECT_EQ(Contained(launchers_, 1).size(), 2u);
  usleep(20'000);
  launch();
  EXPECT_EQ(Children(launchers_).size(), 1u);
  launchers_.AskAhead();
  launchers_.AskAhead();  // one is enough
  EXPECT_EQ(Contained(launchers_, 1).size(), 2u);
  usleep(20'000);
  kind = {.program = Program("one")};
  launch();
  EXPECT_EQ(Contained(launchers_, 2).size(), 4u) << "without a view at once";
}

TEST_F(LauncherTest, ProgramsThatNobodyWantsAnyMoreLoseTheirLauncher) {
  for (int i = 0; i < 20; ++i) Reap(Launch(launchers_, Program("program " + std::to_string(i))));
  EXPECT_EQ(Contained(launchers_, 6).size(), 12u) << "a policy has three programs";
}

TEST_F(LauncherTest, AllEndWithTheirOwner) {
  {
    Launchers launchers(loop_.get(), UseFake());
    Reap(Launch(launchers, Program("one")));
    Reap(Launch(launchers, Program("two")));
    Reap(Launch(launchers, Program("two")));
    EXPECT_TRUE(HasChildren());
  }
  EXPECT_FALSE(HasChildren());
}

TEST_F(LauncherTest, OneThatWasKilledIsReplacedAndNothingIsLost) {
  for (const bool waits_too : {false, true}) {
    Reap(Launch(launchers_, Program("one")));
    const std::vector<pid_t> first = Contained(launchers_, 1);
    KillAndWaitForDeath(first[0]);
    if (waits_too) KillAndWaitForDeath(first[1]);
    Reap(Launch(launchers_, Program("one")));  // the worker that waited, or a new launcher's
    Reap(Launch(launchers_, Program("one")));
    EXPECT_NE(Contained(launchers_, 1)[0], first[0]);
  }
}

TEST_F(LauncherTest, AWaitingWorkerThatWasKilledIsReplacedAndNothingIsLost) {
  Reap(Launch(launchers_, Program("one")));
  KillAndWaitForDeath(Contained(launchers_, 1)[1]);
  Reap(Launch(launchers_, Program("one")));
}

// The connection is then reset, because what we asked for was never read.
TEST_F(LauncherTest, OneThatDiedBeforeItReadIsReplacedToo) {
  Reap(Launch(launchers_, Program("one")));
  const pid_t launcher = Contained(launchers_, 1)[0];
  kill(launcher, SIGSTOP);
  Reap(Launch(launchers_, Program("one")));  // the worker that waited
  KillAndWaitForDeath(launcher);
  Reap(Launch(launchers_, Program("one")));
}

TEST_F(LauncherTest, AWaitingWorkerThatWasStoppedRunsAll) {
  Reap(Launch(launchers_, Program("one")));
  kill(Contained(launchers_, 1)[1], SIGSTOP);
  Reap(Launch(launchers_, Program("one")));
}

TEST_F(LauncherTest, WhatWasLostIsTold) {
  int lost = 0;
  Launchers launchers(loop_.get(), UseFake(), [&lost] { ++lost; });
  Reap(Launch(launchers, Program("one")));
  EXPECT_EQ(lost, 0);
  KillAndWaitForDeath(Contained(launchers, 1)[1]);
  Reap(Launch(launchers, Program("one")));
  EXPECT_EQ(lost, 1);
}

// What was refused when nobody wanted it is no reason to fail a call that comes later.
TEST_F(LauncherTest, AForkAheadThatFailedIsTriedAgain) {
  const std::size_t before = OpenDescriptors();
  const UniqueFd highest(open("/dev/null", O_RDONLY | O_CLOEXEC));
  Reap(Launch(launchers_, Program("one")));
  const pid_t launcher = Contained(launchers_, 1)[0];
  rlimit old{};
  getrlimit(RLIMIT_NOFILE, &old);
  const rlimit low{static_cast<rlim_t>(OpenDescriptors()), old.rlim_max};
  ASSERT_GT(low.rlim_cur, before);
  setrlimit(RLIMIT_NOFILE, &low);
  Reap(Launch(launchers_, Program("one")));  // the one that waited; there is no room for the next
  EXPECT_EQ(Children(launchers_), std::vector{launcher});
  setrlimit(RLIMIT_NOFILE, &old);
  Reap(Launch(launchers_, Program("one")));
  EXPECT_EQ(Contained(launchers_, 1)[0], launcher);
}

TEST_F(LauncherTest, OneThatWasStoppedGoesOnWhenItIsNeeded) {
  Reap(Launch(launchers_, Program("one")));
  const pid_t launcher = Contained(launchers_, 1)[0];
  kill(launcher, SIGSTOP);
  Reap(Launch(launchers_, Program("one")));  // the worker that waited
  Reap(Launch(launchers_, Program("one")));
  EXPECT_EQ(Contained(launchers_, 1)[0], launcher);
}

// Only the first never answers.
std::string AnswersNeverAndThenAlways(const std::string& directory) {
  return "if mkdir " + directory + "/once 2>/dev/null; then exec sleep 1000; fi; exec " +
         FromEnvironment("PA_FAKE_WORKER") + "\n";
}

TEST_F(LauncherTest, OneThatDoesNotAnswerHoldsUpNobodyElseAndIsReplaced) {
  Launchers launchers(loop_.get(), Script(AnswersNeverAndThenAlways(directory_)));
  const auto held_up = Ask(launchers, {.program = Program("one")});
  while (!fs::exists(directory_ + "/once")) usleep(1000);
  Reap(Launch(launchers, Program("two")));
  Reap(Launch(launchers, Program("three")));
  EXPECT_FALSE(*held_up);
  const Result<LaunchedWorker> worker = Await(held_up);
  ASSERT_TRUE(worker) << worker.error().Message();
  Reap(worker->pid);
}

TEST_F(LauncherTest, ManyWhoAwaitOneLauncherAllGetTheirWorker) {
  std::vector<std::shared_ptr<Answer>> asked;
  for (int i = 0; i < 20; ++i) asked.push_back(Ask(launchers_, {.program = Program("one")}));
  std::set<pid_t> pids;
  for (const auto& one : asked) {
    const Result<LaunchedWorker> worker = Await(one);
    ASSERT_TRUE(worker) << worker.error().Message();
    pids.insert(Reap(worker->pid));
  }
  EXPECT_EQ(pids.size(), 20u);
}

// What a worker said that did not begin.
worker::Step Reported(const LaunchedWorker& worker) {
  waitpid(worker.pid, nullptr, 0);
  worker::WorkerStatus said;
  const ssize_t got = ReceiveWaiting(worker.control.get(), AsWritableBytes(said));
  return got == ssize_t{sizeof said} ? said.step : worker::Step::kNone;
}

// The kernel tells of the orders that were not read before it gives the reply that waits; and
// nobody is to blame for the launcher that another call gave up.
TEST_F(LauncherTest, WhoAwaitsOneThatAnswersOneOrderAndDiesGetsAWorkersWord) {
  Launchers launchers(loop_.get(), Held("PA_FAKE_ANSWERS_ONE=1 exec " + UseFake()));
  for (const auto& one : AskFourAtOnce(launchers)) {
    const Result<LaunchedWorker> worker = Await(one);
    ASSERT_TRUE(worker) << worker.error().Message();
    EXPECT_EQ(Reported(*worker), worker::Step::kLandlock);
  }
}

TEST_F(LauncherTest, OneThatIsNotReadyTellsAllThatAwaitItWhyAndEnds) {
  const std::string worker_path = FromEnvironment("PA_WORKER_FAULTS");
  Launchers launchers(loop_.get(), Held("PA_FAIL_STEP=capabilities exec " + worker_path));
  for (const auto& one : AskFourAtOnce(launchers)) {
    const Result<LaunchedWorker> worker = Await(one);
    ASSERT_TRUE(worker) << worker.error().Message();
    EXPECT_EQ(Reported(*worker), worker::Step::kCapabilities);
  }
  EXPECT_EQ(Dump(), "launched\n");
  const Result<LaunchedWorker> next = Await(Ask(launchers, {.program = Program("one")}));
  ASSERT_TRUE(next) << next.error().Message();
  EXPECT_EQ(Reported(*next), worker::Step::kCapabilities);
  EXPECT_EQ(Dump(), "launched\nlaunched\n") << "what failed once is tried anew";
}

// Whoever came later would take his worker from the one who waits; he takes it for a refusal when
// it has happened to him twice.
TEST_F(LauncherTest, WhoComesLaterWaitsBehindWhoWaits) {
  for (int round = 0; round < 3; ++round) {
    const LaunchKind kind{.view = std::make_shared<const sandbox::View>()};  // nobody is ahead
    Launchers launchers(loop_.get(), UseFake());
    Reap(Await(Ask(launchers, kind))->pid);
    const auto first = Ask(launchers, kind);
    ASSERT_FALSE(*first);
    std::vector<std::shared_ptr<Answer>> later;
    for (std::size_t i = 0; i < 4; ++i) {
      AwaitForked(1 + i);  // what was asked for is there
      later.push_back(Ask(launchers, kind));
      EXPECT_TRUE(*first || !*later.back()) << "it is the first one's";
    }
    const Result<LaunchedWorker> worker = Await(first);
    ASSERT_TRUE(worker) << worker.error().Message();
    Reap(worker->pid);
    for (const auto& one : later) {
      const Result<LaunchedWorker> next = Await(one);
      ASSERT_TRUE(next) << next.error().Message();
      Reap(next->pid);
    }
  }
}

// Calls come from a client in bursts, and each takes the loop a while. The first of these are at
// work by then.
TEST_F(LauncherTest, ACallServesThoseBeforeItWhoseWorkersAreThere) {
  Launchers launchers(loop_.get(), Held("exec " + UseFake()));
  const std::vector<std::shared_ptr<Answer>> asked = AskFourAtOnce(launchers);
  for (const auto& one : asked) EXPECT_FALSE(*one);
  AwaitForked(asked.size());
  const auto last = Ask(launchers, {.program = Program("one")});
  for (const auto& one : asked) {
    ASSERT_TRUE(*one);
    ASSERT_TRUE(**one) << (*one)->error().Message();
    Reap((*one)->value().pid);
  }
  Reap(Await(last)->pid);
}

// Else others of the same turn of the loop are in front of each.
TEST_F(LauncherTest, AllWhoseWorkersAreThereAreServedInOneTurnOfTheLoop) {
  Launchers launchers(loop_.get(), Held("exec " + UseFake()));
  const std::vector<std::shared_ptr<Answer>> asked = AskFourAtOnce(launchers);
  AwaitForked(asked.size());
  uv_run(loop_.get(), UV_RUN_NOWAIT);
  for (const auto& one : asked) {
    ASSERT_TRUE(*one);
    ASSERT_TRUE(**one) << (*one)->error().Message();
    Reap((*one)->value().pid);
  }
}

// A call that ends lets another one begin, in the midst of those who are served.
TEST_F(LauncherTest, WhoComesWhileOthersAreServedWaitsBehindThem) {
  Launchers launchers(loop_.get(), Held("exec " + UseFake()));
  std::string order;
  std::function<void(char)> ask = [&](char name) {
    Detach(launchers.Launch({.program = Program("one")}, std::vector<int>(5, null_.get())),
           [&, name](Result<LaunchedWorker> worker) {
             ASSERT_TRUE(worker) << worker.error().Message();
             Reap(worker->pid);
             order += name;
             if (name == 'a') ask('z');
           });
  };
  for (const char name : {'a', 'b', 'c', 'd'}) ask(name);
  std::ofstream(directory_ + "/go").close();
  AwaitForked(4);
  testing::RunUntil(loop_.get(), [&] { return order.size() == 5; });
  EXPECT_EQ(order, "abcdz");
}

// Who hunts orphans asks that, and reads what the launcher says where nobody else does.
TEST_F(LauncherTest, WhetherOneIsOwedTakesNoWorkerFromWhoWaits) {
  const LaunchKind kind{.view = std::make_shared<const sandbox::View>()};
  Reap(Await(Ask(launchers_, kind))->pid);
  const auto asked = Ask(launchers_, kind);
  AwaitForked(1);
  EXPECT_FALSE(launchers_.AllKnown(false));
  const auto begin = std::chrono::steady_clock::now();
  const Result<LaunchedWorker> worker = Await(asked);
  ASSERT_TRUE(worker) << worker.error().Message();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLauncherPatience);
  Reap(worker->pid);
}

TEST_F(LauncherTest, WhoAwaitsOneThatIsKilledGetsAnotherOnes) {
  Launchers launchers(loop_.get(), Script(AnswersNeverAndThenAlways(directory_)));
  const auto first = Ask(launchers, {.program = Program("one")});
  const auto second = Ask(launchers, {.program = Program("one")});
  while (!fs::exists(directory_ + "/once")) usleep(1000);
  for (const pid_t pid : OurChildren()) kill(pid, SIGKILL);
  Reap(Await(first)->pid);
  Reap(Await(second)->pid);
}

TEST_F(LauncherTest, NobodyAwaitsAWorkerAfterTheEnd) {
  Launchers launchers(loop_.get(), Script("exec sleep 1000\n"));
  const auto held_up = Ask(launchers, {.program = Program("one")});
  EXPECT_FALSE(*held_up);
  launchers.Close();
  ASSERT_TRUE(*held_up) << "at once";
  EXPECT_FALSE(**held_up);
  EXPECT_FALSE(HasChildren());
  EXPECT_EQ(Launch(launchers, Program("two")).error().sys_errno, ECANCELED);
}

// Whoever hunts orphans cannot tell a worker of which he has not heard from them.
TEST_F(LauncherTest, AChildMayBeAWorkerAsLongAsOneIsOwed) {
  Reap(Launch(launchers_, Program("one")));
  kill(Contained(launchers_, 1)[0], SIGSTOP);
  EXPECT_FALSE(launchers_.Contains(1));
  Reap(Launch(launchers_, Program("one")));  // the worker that waited; the next one is asked for
  EXPECT_FALSE(launchers_.AllKnown(false));
  EXPECT_TRUE(launchers_.Contains(1));
  EXPECT_TRUE(launchers_.AllKnown(true));
  EXPECT_FALSE(launchers_.Contains(1));
}

TEST_F(LauncherTest, OneThatEndsInsteadOfAnsweringIsAnError) {
  Launchers launchers(loop_.get(), Script("exit 3\n"));
  const Result<pid_t> worker = Launch(launchers, Program("one"));
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().subject, "worker launcher");
  EXPECT_FALSE(HasChildren()) << "it was waited for";
}

TEST_F(LauncherTest, WithoutAProgramNothingIsLaunched) {
  for (const auto& none : {sandbox::SeccompProgram(), Program("")}) {
    const Result<pid_t> worker = Launch(launchers_, none);
    ASSERT_FALSE(worker);
    EXPECT_EQ(worker.error().sys_errno, EINVAL);
    EXPECT_FALSE(HasChildren());
  }
}

TEST_F(LauncherTest, TooFewDescriptorsLetNoWorkerBegin) {
  const Result<LaunchedWorker> worker = Await(Ask(launchers_, {.program = Program("one")}, 4));
  ASSERT_TRUE(worker);
  int status = 0;
  waitpid(worker->pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "one that begins ends with 1";
}

TEST_F(LauncherTest, WithoutADescriptorForItNoWorkerIsMade) {
  const std::size_t before = OpenDescriptors();
  {
    Launchers launchers(loop_.get(), UseFake());
    Reap(Launch(launchers, Program("one")));
    Contained(launchers, 1);
    const UniqueFd highest(open("/dev/null", O_RDONLY | O_CLOEXEC));
    rlimit old{};
    getrlimit(RLIMIT_NOFILE, &old);
    const rlimit low{static_cast<rlim_t>(highest.get()) + 1, old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
    Reap(Launch(launchers, Program("one")));  // the one that waited
    const Result<pid_t> worker = Launch(launchers, Program("one"));
    setrlimit(RLIMIT_NOFILE, &old);
    ASSERT_FALSE(worker);
    EXPECT_EQ(worker.error().sys_errno, EMFILE);
  }
  controls_.clear();
  EXPECT_FALSE(HasChildren());
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(LauncherTest, AMissingWorkerIsNamed) {
  const std::size_t before = OpenDescriptors();
  Launchers launchers(loop_.get(), "/nonexistent/worker");
  const Result<pid_t> worker = Launch(launchers, Program("one"));
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().op, "posix_spawn");
  EXPECT_EQ(worker.error().subject, "/nonexistent/worker");
  EXPECT_EQ(worker.error().sys_errno, ENOENT);
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(LauncherTest, AWorkerThatIsNotExecutableIsAnError) {
  const std::string path = Script("");
  chmod(path.c_str(), 0600);
  Launchers launchers(loop_.get(), path);
  const Result<pid_t> worker = Launch(launchers, Program("one"));
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().sys_errno, EACCES);
}

// PWD is the shell's own.
TEST_F(LauncherTest, NothingOfOurEnvironmentIsInherited) {
  Launchers launchers(loop_.get(), Script("env | grep -v ^PWD= >" + directory_ + "/dump\n"));
  ASSERT_FALSE(Launch(launchers, Program("one")));
  EXPECT_EQ(Dump(), "PATH=/usr/local/bin:/usr/bin:/bin\n");
}

// With builtins alone: a pipeline would add descriptors of its own.
TEST_F(LauncherTest, ItHasItsSocketAndNoOtherDescriptorOfOurs) {
  Launchers launchers(loop_.get(),
                      Script("exec >" + directory_ +
                             "/dump; n=3; while [ $n -lt 30 ]; do [ -e /proc/$$/fd/$n ] && echo -n "
                             "\"$n \"; n=$((n+1)); done; readlink /proc/$$/fd/0 | cat\n"));
  const UniqueFd stray(open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_FALSE(Launch(launchers, Program("one")));
  EXPECT_EQ(Dump(), "3 10 /dev/null\n") << "10 is the shell's own: it holds the script there";
}

TEST_F(LauncherTest, SignalsAreAsAFreshProcessHasThem) {
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  sigset_t blocked;
  sigset_t old;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, &old);
  Launchers launchers(loop_.get(), Script("exec >" + directory_ +
                                          "/dump; grep -E '^Sig(Blk|Ign)' /proc/self/status\n"));
  const Result<pid_t> worker = Launch(launchers, Program("one"));
  sigprocmask(SIG_SETMASK, &old, nullptr);
  action.sa_handler = SIG_DFL;
  sigaction(SIGPIPE, &action, nullptr);
  ASSERT_FALSE(worker);
  std::istringstream dump(Dump());
  std::string blocked_name;
  std::string ignored_name;
  unsigned long long none = 1;
  unsigned long long ignored = 0;
  dump >> blocked_name >> std::hex >> none >> ignored_name >> ignored;
  EXPECT_EQ(blocked_name + ignored_name, "SigBlk:SigIgn:");
  EXPECT_EQ(none, 0u);
  // Not all of it: glibc's posix_spawn leaves 32 ignored. The worker undoes that (worker_test.cc).
  EXPECT_EQ(ignored >> (SIGPIPE - 1) & 1, 0u);
}

}  // namespace
}  // namespace pa
