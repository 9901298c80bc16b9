#include "supervisor/run/exiting_workers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "tests/support/run_until.h"

namespace pa {
namespace {

bool IsOurChild(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

class ExitingWorkersTest : public ::testing::Test {
 protected:
  ExitingWorkersTest() {
    uv_loop_init(&loop_);
    exiting_.emplace(&loop_);
  }
  ~ExitingWorkersTest() override {
    exiting_.reset();
    for (pid_t pid : children_) EXPECT_FALSE(IsOurChild(pid));
    while (uv_run(&loop_, UV_RUN_NOWAIT) != 0) {
    }
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }

  pid_t Child(bool leaves) {
    const pid_t pid = fork();
    if (pid == 0) {
      while (!leaves) pause();
      _exit(0);
    }
    children_.push_back(pid);
    return pid;
  }

  uv_loop_t loop_;
  std::optional<ExitingWorkers> exiting_;
  std::vector<pid_t> children_;
};

TEST_F(ExitingWorkersTest, OneThatLeavesIsReapedByTheLoop) {
  const pid_t pid = Child(true);
  exiting_->Add(pid);
  testing::RunUntil(&loop_, [&] { return !IsOurChild(pid); });
  EXPECT_FALSE(exiting_->Contains(pid));
}

TEST_F(ExitingWorkersTest, OneThatStaysIsKilledInTheEnd) {
  const pid_t stays = Child(false);
  exiting_->Add(stays);
  EXPECT_TRUE(exiting_->Contains(stays));
  const auto start = std::chrono::steady_clock::now();
  testing::RunUntil(&loop_, [&] { return !IsOurChild(stays); });
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(900))
      << "it may still have had something to do";
}

TEST_F(ExitingWorkersTest, NobodyIsLeftWhenTheOwnerEnds) { exiting_->Add(Child(false)); }

TEST_F(ExitingWorkersTest, OneThatIsGoneAlreadyIsNoMatter) {
  const pid_t pid = Child(true);
  waitpid(pid, nullptr, 0);
  exiting_->Add(pid);
  EXPECT_FALSE(exiting_->Contains(pid));
}

}  // namespace
}  // namespace pa
