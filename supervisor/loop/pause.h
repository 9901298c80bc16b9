// Pause: suspends a coroutine for some time. It does not block the loop.
//
//    Task<bool> pause = Pause(loop, std::chrono::milliseconds(20));
//    [[maybe_unused]] const bool over = co_await pause;
#pragma once

#include <uv.h>

#include <chrono>

#include "supervisor/loop/task.h"
#include "supervisor/loop/uv_handles.h"

namespace pa {

inline Task<bool> Pause(uv_loop_t* loop, std::chrono::milliseconds time) {
  Completion<bool> over;
  TimerHandle timer(loop);
  timer.Start(time, [&over] { over.Set(true); });
  const bool value = co_await over;
  co_return value;
}

}  // namespace pa
