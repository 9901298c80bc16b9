// RunUntil: runs a loop until a condition holds.
//
//    testing::RunUntil(&loop, [&] { return answer.has_value(); });
//
// UV_RUN_ONCE in a `while` does not do this. It first runs the timers that are due and then waits
// for the next event all the same, so a condition that a timer fulfilled is seen only after that
// event.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <uv.h>

#include <chrono>
#include <functional>

namespace pa::testing {

// Looks after each turn of the loop. Fails the test if nothing keeps the loop alive, or after five
// minutes, while the condition does not hold.
inline void RunUntil(uv_loop_t* loop, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (!condition()) {
    const bool alive = uv_run(loop, UV_RUN_NOWAIT) != 0;
    if (condition()) return;
    if (!alive) FAIL() << "nothing more happens in this loop";
    if (std::chrono::steady_clock::now() > end) FAIL() << "the condition does not come true";
    // https://docs.libuv.org/en/v1.x/loop.html#c.uv_backend_fd
    pollfd events = {.fd = uv_backend_fd(loop), .events = POLLIN, .revents = 0};
    constexpr int kLook = 100;  // the condition may be about a file
    const int timeout = uv_backend_timeout(loop);
    poll(&events, 1, timeout < 0 || timeout > kLook ? kLook : timeout);
  }
}

}  // namespace pa::testing
