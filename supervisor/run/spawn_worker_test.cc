#include "supervisor/run/spawn_worker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <filesystem>
#include <memory>
#include <set>

#include "supervisor/loop/loop.h"
#include "supervisor/run/runner_test_support.h"
#include "tests/support/run_until.h"
#include "worker/spec.h"

namespace pa {
namespace {

// With a fake worker, which tells what it has got.
class SpawnTest : public ::testing::Test {
 protected:
  SpawnTest() {
    std::string path = ::testing::TempDir() + "spawn-XXXXXX";
    directory_ = fs::canonical(mkdtemp(path.data()));
    cwd_.reset(open(directory_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  ~SpawnTest() override { fs::remove_all(directory_); }

  static std::string Spec(std::vector<std::string> words) {
    worker::WorkerSpec spec;
    spec.executable = "/fake";
    spec.argv = std::move(words);
    spec.argv.insert(spec.argv.begin(), "fake");
    return *worker::EncodeSpec(spec);
  }

  Result<SpawnedWorker> Spawn(const std::string& spec, int cwd, int ruleset = -1,
                              std::optional<std::string_view> in = {}) {
    return Spawn(loop_, launchers_,
                 {.launch = {.program = std::make_shared<const std::string>("program.")},
                  .spec = spec,
                  .cwd = cwd,
                  .ruleset = ruleset,
                  .stdin_data = in});
  }
  static Result<SpawnedWorker> Spawn(Loop& loop, Launchers& launchers, const SpawnOrder& order) {
    std::optional<Result<SpawnedWorker>> answer;
    Detach(SpawnWorker(launchers, order),
           [&](Result<SpawnedWorker> worker) { answer.emplace(std::move(worker)); });
    testing::RunUntil(loop.get(), [&] { return answer.has_value(); });
    return std::move(*answer);
  }

  // What it writes until it ends.
  static std::string Output(const SpawnedWorker& worker) {
    std::string text;
    char buffer[4096];
    for (;;) {
      pollfd readable{worker.out.get(), POLLIN, 0};
      poll(&readable, 1, -1);
      const ssize_t got = read(worker.out.get(), buffer, sizeof buffer);
      if (got <= 0) break;
      text.append(buffer, static_cast<std::size_t>(got));
    }
    waitpid(worker.pid, nullptr, 0);
    return text;
  }

  // A test takes the numbers 3 and 5 away, so the loop must have others.
  struct HighNumbers {
    HighNumbers() {
      std::vector<UniqueFd> low(16);
      for (UniqueFd& fd : low) fd.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
      loop.emplace();
    }
    std::optional<Loop> loop;
  };
  HighNumbers high_;
  Loop& loop_ = *high_.loop;
  Launchers launchers_{loop_.get(), FromEnvironment("PA_FAKE_WORKER")};
  std::string directory_;
  UniqueFd cwd_;
};

TEST_F(SpawnTest, TheChildHasItsSpecAndItsDescriptors) {
  UniqueFd ruleset(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::string spec = Spec({"lists-descriptors"});
  const auto worker = Spawn(spec, cwd_.get(), ruleset.get(), "the stdin");
  ASSERT_TRUE(worker) << worker.error().Message();
  EXPECT_EQ(Output(*worker), "0 1 2 3 4 5 6 /memfd:stdin (deleted) " + directory_ + " /dev/null ");
}

TEST_F(SpawnTest, WithoutRulesetAndStdinThereIsNoSixAndDevNull) {
  // A stray 6 of ours would be taken for a ruleset.
  const UniqueFd stray(open("/dev/null", O_RDONLY));
  const UniqueFd six(fcntl(6, F_GETFD) < 0 ? dup2(stray.get(), 6) : -1);
  const auto worker = Spawn(Spec({"lists-descriptors"}), cwd_.get());
  ASSERT_TRUE(worker) << worker.error().Message();
  EXPECT_EQ(Output(*worker), "0 1 2 3 4 5 /dev/null " + directory_ + " none ");
}

TEST_F(SpawnTest, TheNumbersOfOurDescriptorsDoNotMatter) {
  // Sources that have each other's numbers: the working directory 3, the ruleset 5.
  const UniqueFd saved3(fcntl(3, F_DUPFD_CLOEXEC, 100));
  const UniqueFd saved5(fcntl(5, F_DUPFD_CLOEXEC, 100));
  const UniqueFd directory(fcntl(cwd_.get(), F_DUPFD_CLOEXEC, 100));
  UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(dup3(directory.get(), 3, O_CLOEXEC), 3);
  ASSERT_EQ(dup3(null.get(), 5, O_CLOEXEC), 5);
  const auto worker = Spawn(Spec({"lists-descriptors"}), 3, 5);
  saved3 ? dup3(saved3.get(), 3, O_CLOEXEC) : close(3);
  saved5 ? dup3(saved5.get(), 5, O_CLOEXEC) : close(5);
  ASSERT_TRUE(worker) << worker.error().Message();
  EXPECT_EQ(Output(*worker), "0 1 2 3 4 5 6 /dev/null " + directory_ + " /dev/null ");
}

// The worker's end shows as the hang-up of its control socket: its launcher must not hold that.
TEST_F(SpawnTest, ItsEndIsTheHangUpOfItsControlSocket) {
  const auto worker = Spawn(Spec({"silent"}), cwd_.get());
  ASSERT_TRUE(worker) << worker.error().Message();
  pollfd ended{worker->control.get(), POLLIN, 0};
  ASSERT_EQ(poll(&ended, 1, 10'000), 1);
  EXPECT_NE(ended.revents & POLLHUP, 0);
  int status = 0;
  EXPECT_EQ(waitpid(worker->pid, &status, 0), worker->pid);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

// Every descriptor that the spawn needs fails once; each failure names its step and leaves nothing
// open.
TEST_F(SpawnTest, EachStepThatRunsOutOfDescriptorsSaysSo) {
  const std::string spec = Spec({"echo", "ran"});
  const std::size_t before = OpenDescriptors();
  const UniqueFd highest(open("/dev/null", O_RDONLY | O_CLOEXEC));
  rlimit old{};
  getrlimit(RLIMIT_NOFILE, &old);
  // Without a look at this fixture's type, for which UBSan needs a descriptor.
  Loop& loop = loop_;
  Launchers& launchers = launchers_;
  const SpawnOrder order = {.launch = {.program = std::make_shared<const std::string>("program.")},
                            .spec = spec,
                            .cwd = cwd_.get(),
                            .ruleset = -1,
                            .stdin_data = {}};
  std::vector<std::string> failed;
  for (rlim_t room = 0; room < 40; ++room) {
    const rlimit low{static_cast<rlim_t>(highest.get()) + 1 + room, old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
    const auto worker = Spawn(loop, launchers, order);
    setrlimit(RLIMIT_NOFILE, &old);
    if (worker) {
      EXPECT_EQ(Output(*worker), "ran\n");
      break;
    }
    EXPECT_EQ(worker.error().sys_errno, EMFILE);
    failed.push_back(worker.error().op + " " + worker.error().subject);
    EXPECT_EQ(OpenDescriptors(), before + 1);
  }
  EXPECT_EQ(failed.size(), 10u)
      << "two pipes, the launcher's socket and the worker's need two each";
  EXPECT_EQ(std::set<std::string>(failed.begin(), failed.end()),
            (std::set<std::string>{"memfd_create spec", "open /dev/null", "pipe2 output",
                                   "socketpair control", "socketpair launcher"}));
}

}  // namespace
}  // namespace pa
