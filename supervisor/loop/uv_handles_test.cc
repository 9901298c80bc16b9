#include "supervisor/loop/uv_handles.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <optional>

#include "base/unique_fd.h"

namespace pa {
namespace {

using std::chrono::milliseconds;

class UvHandlesTest : public ::testing::Test {
 protected:
  UvHandlesTest() {
    uv_loop_init(&loop_);
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    ours_.reset(fds[0]);
    theirs_.reset(fds[1]);
  }
  // uv_loop_close refuses while any handle is left.
  ~UvHandlesTest() override {
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }
  uv_loop_t loop_;
  UniqueFd ours_;
  UniqueFd theirs_;
};

TEST_F(UvHandlesTest, PollReportsBytesAndStops) {
  int calls = 0;
  PollHandle* self = nullptr;
  Result<PollHandle> poll = PollHandle::Create(&loop_, ours_.get(), [&] {
    ++calls;
    self->Stop();
  });
  ASSERT_TRUE(poll);
  self = &*poll;
  poll->Start();
  ASSERT_EQ(write(theirs_.get(), "x", 1), 1);
  uv_run(&loop_, UV_RUN_DEFAULT);  // ends because nothing is active any more
  EXPECT_EQ(calls, 1);
}

TEST_F(UvHandlesTest, PollReportsHangUp) {
  std::optional<PollHandle> poll;
  int calls = 0;
  poll = *PollHandle::Create(&loop_, ours_.get(), [&] {
    ++calls;
    poll.reset();  // inside its own callback
  });
  poll->Start();
  theirs_.reset();
  uv_run(&loop_, UV_RUN_DEFAULT);
  EXPECT_EQ(calls, 1);
}

TEST_F(UvHandlesTest, NothingIsCalledAfterTheOwnerIsGone) {
  int calls = 0;
  {
    Result<PollHandle> poll = PollHandle::Create(&loop_, ours_.get(), [&] { ++calls; });
    ASSERT_TRUE(poll);
    poll->Start();
    ASSERT_EQ(write(theirs_.get(), "x", 1), 1);
    TimerHandle timer(&loop_);
    timer.Start(milliseconds(0), [&] { ++calls; });
  }
  uv_run(&loop_, UV_RUN_DEFAULT);
  EXPECT_EQ(calls, 0);
}

TEST_F(UvHandlesTest, WhatCannotBePolledIsAnError) {
  const Result<PollHandle> poll = PollHandle::Create(&loop_, -1, [] {});
  ASSERT_FALSE(poll);
  EXPECT_EQ(poll.error().op, "uv_poll_init");
  EXPECT_EQ(poll.error().sys_errno, EBADF);
}

TEST_F(UvHandlesTest, ATimerCanBeSetAnewInItsCallback) {
  int calls = 0;
  TimerHandle timer(&loop_);
  std::function<void()> tick = [&] {
    if (++calls < 3) timer.Start(milliseconds(1), tick);
  };
  timer.Start(milliseconds(1), tick);
  uv_run(&loop_, UV_RUN_DEFAULT);
  EXPECT_EQ(calls, 3);
  timer.Start(milliseconds(1), tick);
  timer.Stop();
  uv_run(&loop_, UV_RUN_DEFAULT);
  EXPECT_EQ(calls, 3);
}

TEST_F(UvHandlesTest, ATimerMayEndItsOwner) {
  int calls = 0;
  std::optional<TimerHandle> timer(std::in_place, &loop_);
  timer->Start(milliseconds(0), [&] {
    timer.reset();
    ++calls;
  });
  uv_run(&loop_, UV_RUN_DEFAULT);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace pa
