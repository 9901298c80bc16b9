// Turns of two servers: supervisor/run/runner_test.cc. Here: what whoever was killed left in the
// file.
#include "supervisor/run/repository_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "tests/support/await.h"
#include "tests/support/few_descriptors.h"
#include "tests/support/run_until.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thread_janitor.h"

namespace pa {
namespace {

namespace fs = std::filesystem;
using testing::ReadText;
using testing::WriteText;

class RepositoryTurnTest : public ::testing::Test {
 protected:
  RepositoryTurnTest() {
    uv_loop_init(&loop_);
    WriteText(git_dir_ / "HEAD", "ref: refs/heads/main\n");
  }
  ~RepositoryTurnTest() override {
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }
  template <typename T>
  T Await(Task<T> task) {
    return testing::Await(loop_, std::move(task));
  }
  policy::Repository Repository() const {
    return {
        .top_level = base_ / "project", .git_dir = git_dir_, .common_dir = git_dir_, .grants = {}};
  }
  RepositoryTurn Begin() {
    RepositoryTurn turn = Await(AwaitRepository(&loop_, state_, git_dir_, [] { return false; }));
    EXPECT_TRUE(turn.lock);
    EXPECT_TRUE(Await(BeginGit({&loop_, janitor_, nullptr}, turn, Repository(),
                               std::chrono::seconds(10), [this] { return give_up_; })));
    return turn;
  }
  // What the caller is warned of, when its git ended so.
  std::string End(RepositoryTurn turn, Outcome outcome, int exit_code) {
    Execution execution;
    execution.outcome = outcome;
    execution.exit_code = exit_code;
    Await(EndGit({&loop_, janitor_, nullptr}, turn, execution, [this] { return give_up_; }));
    return execution.warning;
  }
  // As the kernel leaves it.
  static void Kill(RepositoryTurn turn) { turn.lock.reset(); }
  std::string Record() const { return ReadText(RepositoryLockPath(state_, git_dir_)); }

  testing::TempDir dir_;
  fs::path base_ = fs::canonical(dir_.path());
  fs::path git_dir_ = base_ / "project/.git";
  fs::path lock_ = git_dir_ / "index.lock";
  std::string state_ = base_ / "state";
  bool give_up_ = false;
  uv_loop_t loop_;
  testing::ThreadJanitor janitor_{&loop_};
};

// Another server, with one git after the other, does not get it again and again.
TEST_F(RepositoryTurnTest, WhoWaitsComesNext) {
  const auto holds_next = [&] {
    const UniqueFd other(
        open((RepositoryLockPath(state_, git_dir_) + "-next").c_str(), O_RDONLY | O_CLOEXEC));
    return other && flock(other.get(), LOCK_EX | LOCK_NB) != 0;
  };
  for (int round = 0; round < 5; ++round) {
    std::optional<RepositoryTurn> held = Begin();
    std::string order;
    std::optional<RepositoryTurn> turns[2];
    const auto start = [&](int who) {
      Detach(AwaitRepository(&loop_, state_, git_dir_, [this] { return give_up_; }),
             [&, who](RepositoryTurn turn) {
               order += static_cast<char>('0' + who);
               turns[who] = std::move(turn);
             });
    };
    start(0);
    for (int i = 0; i < 50 && !holds_next(); ++i) uv_run(&loop_, UV_RUN_ONCE);
    held.reset();
    start(1);  // before the first looks again
    testing::RunUntil(&loop_, [&] { return !order.empty(); });
    turns[order[0] - '0'].reset();
    testing::RunUntil(&loop_, [&] { return order.size() == 2; });
    EXPECT_EQ(order, "01") << round;
  }
}

TEST_F(RepositoryTurnTest, WhoIsNotEvenNextCanGiveUp) {
  fs::create_directories(state_);
  const std::string next = RepositoryLockPath(state_, git_dir_) + "-next";
  const UniqueFd other(open(next.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(flock(other.get(), LOCK_EX | LOCK_NB), 0);
  int asked = 0;
  const auto give_up = [&] { return ++asked == 3; };
  EXPECT_FALSE(Await(AwaitRepository(&loop_, state_, git_dir_, give_up)).granted);
}

// It passes: git without its turn would meet another one's lock.
TEST_F(RepositoryTurnTest, ForWantOfDescriptorsThereIsNoTurn) {
  Kill(Begin());
  std::optional<RepositoryTurn> turn;
  Detach(AwaitRepository(&loop_, state_, git_dir_, [] { return false; }),
         [&](RepositoryTurn got) { turn = std::move(got); });
  {
    const testing::FewDescriptors none(0);
    testing::RunUntil(&loop_, [&] { return turn.has_value(); });
  }
  EXPECT_FALSE(turn->granted || turn->lock);
  ASSERT_TRUE(turn->used_up);
  EXPECT_EQ(turn->used_up->sys_errno, EMFILE);
}

TEST_F(RepositoryTurnTest, WithoutAQueueThereIsStillATurn) {
  fs::create_directories(RepositoryLockPath(state_, git_dir_) + "-next");
  EXPECT_TRUE(Begin().lock);
}

TEST_F(RepositoryTurnTest, WhatEndedInOrderLeavesNothing) {
  RepositoryTurn turn = Begin();
  EXPECT_NE(Record(), "") << "before git starts";
  EXPECT_EQ(End(std::move(turn), Outcome::kExited, 0), "");
  EXPECT_EQ(Record(), "");
  WriteText(lock_, "of somebody");
  EXPECT_EQ(End(Begin(), Outcome::kExited, 0), "") << "in nobody's way";
  EXPECT_TRUE(End(Begin(), Outcome::kExited, 128).contains("was not left by a git command"));
  EXPECT_TRUE(fs::exists(lock_));
}

TEST_F(RepositoryTurnTest, TheNextClearsWhatAKilledServerLeft) {
  RepositoryTurn turn = Begin();
  WriteText(lock_, "");
  Kill(std::move(turn));
  EXPECT_NE(Record(), "");
  turn = Begin();
  EXPECT_FALSE(fs::exists(lock_)) << "before git starts";
  EXPECT_TRUE(End(std::move(turn), Outcome::kExited, 0).starts_with("removed " + lock_.string()));
  EXPECT_EQ(Record(), "");
}

TEST_F(RepositoryTurnTest, WhatIsKilledUnderTheServerIsClearedAtOnce) {
  RepositoryTurn turn = Begin();
  WriteText(lock_, "");
  EXPECT_TRUE(End(std::move(turn), Outcome::kSignaled, -1).starts_with("removed "));
  EXPECT_FALSE(fs::exists(lock_));
  EXPECT_EQ(Record(), "");
}

// What another git may hold stays, and is remembered until it is known.
TEST_F(RepositoryTurnTest, TheRecordStaysAsLongAsTheLockIsInUse) {
  RepositoryTurn turn = Begin();
  WriteText(lock_, "");
  Kill(std::move(turn));
  const UniqueFd user(open(lock_.c_str(), O_RDONLY | O_CLOEXEC));
  give_up_ = true;  // waits no two seconds
  EXPECT_TRUE(End(Begin(), Outcome::kExited, 128).contains("is held by a program"));
  const std::string record = Record();
  EXPECT_NE(record, "");
  EXPECT_EQ(End(Begin(), Outcome::kExited, 0), "");
  EXPECT_EQ(Record(), record);
  EXPECT_TRUE(fs::exists(lock_));
}

TEST_F(RepositoryTurnTest, AGitThatIsBeingKilledIsWaitedFor) {
  RepositoryTurn turn = Begin();
  WriteText(lock_, "");
  Kill(std::move(turn));
  UniqueFd dying(open(lock_.c_str(), O_RDONLY | O_CLOEXEC));
  uv_timer_t timer;
  uv_timer_init(&loop_, &timer);
  timer.data = &dying;
  uv_timer_start(&timer, [](uv_timer_t* at) { static_cast<UniqueFd*>(at->data)->reset(); }, 50, 0);
  EXPECT_TRUE(End(Begin(), Outcome::kExited, 0).starts_with("removed "));
  uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
  uv_run(&loop_, UV_RUN_NOWAIT);
}

TEST_F(RepositoryTurnTest, ARecordThatCannotBeReadIsNotBelieved) {
  Kill(Begin());
  WriteText(lock_, "");
  WriteText(RepositoryLockPath(state_, git_dir_), Record() + "x");
  EXPECT_EQ(End(Begin(), Outcome::kExited, 0), "");
  EXPECT_TRUE(fs::exists(lock_));
  EXPECT_EQ(Record(), "");
}

}  // namespace
}  // namespace pa
