// Await: runs a Task on a loop of the test's own and returns its result.
//
//    const Result<Watch> watch = testing::Await(loop, guard.Begin(...));
#pragma once

#include <uv.h>

#include <optional>
#include <utility>

#include "supervisor/loop/task.h"
#include "tests/support/run_until.h"

namespace pa::testing {

// A loop that ends with the test, and all that it holds with it.
struct OwnLoop {
  OwnLoop() { uv_loop_init(&loop); }
  ~OwnLoop() {
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
  }
  OwnLoop(const OwnLoop&) = delete;
  OwnLoop& operator=(const OwnLoop&) = delete;
  uv_loop_t loop;
};

// Runs `loop` until the task is done. Run it with UV_RUN_DEFAULT afterwards to end all that it
// holds.
template <typename T>
T Await(uv_loop_t& loop, Task<T> task) {
  std::optional<T> got;
  Detach(std::move(task), [&](T value) { got = std::move(value); });
  RunUntil(&loop, [&] { return got.has_value(); });
  return std::move(*got);
}

}  // namespace pa::testing
