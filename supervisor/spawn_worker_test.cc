#include "supervisor/spawn_worker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "worker/spec.h"

namespace pa {
namespace {

std::size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// With builtins alone: a pipeline would add descriptors of its own.
const std::string kListDescriptors =
    "n=0; while [ $n -lt 30 ]; do [ -e /proc/$$/fd/$n ] && echo -n \"$n \"; n=$((n+1)); done; ";

// A shell script stands in for the worker.
class SpawnTest : public testing::Test {
 protected:
  SpawnTest() {
    // Strays of our own parents; the worker closes those, this stand-in does not.
    close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    std::string path = testing::TempDir() + "spawn-XXXXXX";
    directory_ = mkdtemp(path.data());
    cwd_.reset(open(directory_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  ~SpawnTest() override { std::filesystem::remove_all(directory_); }

  std::string Script(const std::string& body) {
    const std::string path = directory_ + "/worker" + std::to_string(++scripts_);
    std::ofstream(path) << "#!/bin/sh\n" << body;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  // What it writes until it ends; `status` is its wait status.
  std::string Output(const SpawnedWorker& worker, int* status = nullptr) {
    std::string text;
    char buffer[4096];
    for (;;) {
      pollfd readable{worker.out.get(), POLLIN, 0};
      poll(&readable, 1, -1);
      const ssize_t got = read(worker.out.get(), buffer, sizeof buffer);
      if (got <= 0) break;
      text.append(buffer, static_cast<std::size_t>(got));
    }
    waitpid(worker.pid, status, 0);
    return text;
  }

  std::string directory_;
  int scripts_ = 0;
  UniqueFd cwd_;
};

TEST_F(SpawnTest, TheChildHasExactlyItsDescriptors) {
  const std::string path = Script("cat <&3; cat; " + kListDescriptors + "readlink /proc/$$/fd/5");
  UniqueFd ruleset(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto worker = SpawnWorker({.worker_path = path,
                                   .spec = "the spec,",
                                   .cwd = cwd_.get(),
                                   .ruleset = ruleset.get(),
                                   .stdin_data = "the stdin,"});
  ASSERT_TRUE(worker) << worker.error().Message();
  const std::string text = Output(*worker);
  // 10 is the shell's own: it holds the script there.
  EXPECT_EQ(text, "the spec,the stdin,0 1 2 3 4 5 6 10 " + directory_ + "\n");
}

TEST_F(SpawnTest, WithoutRulesetAndStdinThereIsNoSixAndDevNull) {
  // A stray 6 of our ancestors would be taken for a ruleset.
  const UniqueFd stray(open("/dev/null", O_RDONLY));
  const UniqueFd six(fcntl(6, F_GETFD) < 0 ? dup2(stray.get(), 6) : -1);
  const std::string path = Script(kListDescriptors + "readlink /proc/$$/fd/0");
  const auto worker = SpawnWorker({.worker_path = path, .spec = "x", .cwd = cwd_.get()});
  ASSERT_TRUE(worker) << worker.error().Message();
  EXPECT_EQ(Output(*worker), "0 1 2 3 4 5 10 /dev/null\n");
}

TEST_F(SpawnTest, LowDescriptorsOfOursDoNotClash) {
  // Sources that sit on each other's targets: the working directory on 3, the ruleset on 5.
  ASSERT_EQ(dup3(cwd_.get(), 103, O_CLOEXEC), 103);
  const UniqueFd saved3(fcntl(3, F_DUPFD_CLOEXEC, 100));
  const UniqueFd saved5(fcntl(5, F_DUPFD_CLOEXEC, 100));
  UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(dup3(103, 3, O_CLOEXEC), 3);
  ASSERT_EQ(dup3(null.get(), 5, O_CLOEXEC), 5);
  const std::string path = Script("readlink /proc/$$/fd/5 /proc/$$/fd/6; cat <&3");
  const auto worker = SpawnWorker({.worker_path = path, .spec = "spec", .cwd = 3, .ruleset = 5});
  saved3 ? dup3(saved3.get(), 3, O_CLOEXEC) : close(3);
  saved5 ? dup3(saved5.get(), 5, O_CLOEXEC) : close(5);
  close(103);
  ASSERT_TRUE(worker) << worker.error().Message();
  EXPECT_EQ(Output(*worker), directory_ + "\n/dev/null\nspec");
}

TEST_F(SpawnTest, SignalsAreAsAFreshProcessHasThem) {
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  sigset_t blocked;
  sigset_t old;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, &old);
  const auto worker = SpawnWorker(
      {.worker_path = Script("kill -PIPE $$; echo deaf"), .spec = "x", .cwd = cwd_.get()});
  const auto other = SpawnWorker(
      {.worker_path = Script("kill -TERM $$; echo deaf"), .spec = "x", .cwd = cwd_.get()});
  sigprocmask(SIG_SETMASK, &old, nullptr);
  action.sa_handler = SIG_DFL;
  sigaction(SIGPIPE, &action, nullptr);
  ASSERT_TRUE(worker && other);
  int status = 0;
  EXPECT_EQ(Output(*worker, &status), "");
  EXPECT_EQ(WTERMSIG(status), SIGPIPE);
  EXPECT_EQ(Output(*other, &status), "");
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

// PWD is the shell's own.
TEST_F(SpawnTest, NothingOfOurEnvironmentIsInherited) {
  const std::string path = Script("env | grep -v ^PWD=");
  const auto worker = SpawnWorker({.worker_path = path, .spec = "x", .cwd = cwd_.get()});
  ASSERT_TRUE(worker) << worker.error().Message();
  EXPECT_EQ(Output(*worker), "PATH=/usr/local/bin:/usr/bin:/bin\n");
}

TEST_F(SpawnTest, AMissingWorkerIsAnErrorThatNamesIt) {
  const std::size_t before = OpenDescriptors();
  const auto worker =
      SpawnWorker({.worker_path = "/nonexistent/worker", .spec = "x", .cwd = cwd_.get()});
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().op, "posix_spawn");
  EXPECT_EQ(worker.error().subject, "/nonexistent/worker");
  EXPECT_EQ(worker.error().sys_errno, ENOENT);
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(SpawnTest, AWorkerThatIsNotExecutableIsAnError) {
  const std::string path = Script("");
  chmod(path.c_str(), 0600);
  const auto worker = SpawnWorker({.worker_path = path, .spec = "x", .cwd = cwd_.get()});
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().sys_errno, EACCES);
}

// Every descriptor that the spawn needs fails once; each failure names its step and leaves nothing
// open.
TEST_F(SpawnTest, EachStepThatRunsOutOfDescriptorsSaysSo) {
  const std::string path = Script("echo ran");
  const std::size_t before = OpenDescriptors();
  const UniqueFd highest(open("/dev/null", O_RDONLY | O_CLOEXEC));
  rlimit old{};
  getrlimit(RLIMIT_NOFILE, &old);
  std::vector<std::string> failed;
  for (rlim_t room = 0; room < 40; ++room) {
    const rlimit low{static_cast<rlim_t>(highest.get()) + 1 + room, old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
    const auto worker = SpawnWorker({.worker_path = path, .spec = "x", .cwd = cwd_.get()});
    setrlimit(RLIMIT_NOFILE, &old);
    if (worker) {
      EXPECT_EQ(Output(*worker), "ran\n");
      break;
    }
    EXPECT_EQ(worker.error().sys_errno, EMFILE);
    if (failed.empty() || failed.back() != worker.error().op) failed.push_back(worker.error().op);
    EXPECT_EQ(OpenDescriptors(), before + 1);
  }
  EXPECT_EQ(failed, (std::vector<std::string>{"memfd_create", "open", "pipe2", "socketpair",
                                              "fcntl F_DUPFD_CLOEXEC"}));
}

}  // namespace
}  // namespace pa
