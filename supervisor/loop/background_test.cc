#include "supervisor/loop/background.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <semaphore>

namespace pa {
namespace {

Task<int> Twice(uv_loop_t* loop, int value) {
  Task<int> task = InBackground<int>(loop, [value] { return 2 * value; });
  const int twice = co_await task;
  co_return twice;
}

TEST(Background, TheValueComesBackOnTheLoop) {
  uv_loop_t loop;
  uv_loop_init(&loop);
  int got = 0;
  const pthread_t here = pthread_self();
  Detach(Twice(&loop, 21), [&](int value) {
    got = value;
    EXPECT_TRUE(pthread_equal(pthread_self(), here));
  });
  EXPECT_EQ(got, 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  EXPECT_EQ(got, 42);
  EXPECT_EQ(uv_loop_close(&loop), 0);
}

// The work ends only after the loop has gone on: were it done on the loop, nobody would let it.
TEST(Background, TheLoopGoesOnMeanwhile) {
  uv_loop_t loop;
  uv_loop_init(&loop);
  std::binary_semaphore gone_on(0);
  bool done = false;
  RunOnThread(
      &loop, [&] { gone_on.acquire(); }, [&](std::exception_ptr thrown) { done = !thrown; });
  uv_timer_t timer;
  uv_timer_init(&loop, &timer);
  timer.data = &gone_on;
  uv_timer_start(
      &timer,
      [](uv_timer_t* handle) { static_cast<std::binary_semaphore*>(handle->data)->release(); }, 0,
      0);
  uv_run(&loop, UV_RUN_DEFAULT);
  EXPECT_TRUE(done);
  uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
  uv_run(&loop, UV_RUN_DEFAULT);
  EXPECT_EQ(uv_loop_close(&loop), 0);
}

}  // namespace
}  // namespace pa
