// InBackground: runs work that takes long on a thread of its own, away from the loop.
//
//    Task<Result<Known>> task = InBackground<Result<Known>>(loop, [key] { return Read(key); });
//    Result<Known> known = co_await task;
//
// `work` may use only what was passed to it by value, and what is immutable: no member, no loop, no
// log. If the system grants no thread (RLIMIT_NPROC), it runs at once on the loop.
#pragma once

#include <uv.h>

#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "supervisor/loop/task.h"

namespace pa {

// Runs `work` on a new thread, then `done` on the loop, with the exception that was thrown, or
// null.
void RunOnThread(uv_loop_t* loop, std::function<void()> work,
                 std::function<void(std::exception_ptr)> done);

template <typename T>
Task<T> InBackground(uv_loop_t* loop, std::function<T()> work) {
  std::optional<T> result;
  Completion<std::exception_ptr> done;
  RunOnThread(
      loop, [&] { result.emplace(work()); },
      [&](std::exception_ptr thrown) { done.Set(std::move(thrown)); });
  const std::exception_ptr thrown = co_await done;
  if (thrown) std::rethrow_exception(thrown);
  co_return std::move(*result);
}

}  // namespace pa
