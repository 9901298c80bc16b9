// WithinMemory: what asks for more memory than there is ends there; the server and the other calls
// go on.
//
//   Task<ToolResult> task = WithinMemory(std::move(work), [] {
//     return RefusedCall(OutOfMemory());
//   });
//   ToolResult result = co_await task;
//
// Stands where something has to be done afterwards, whatever came of it: put back, compared,
// recorded, answered.
#pragma once

#include <new>
#include <utility>

#include "supervisor/loop/task.h"

namespace pa {

template <typename T, typename Otherwise>
Task<T> WithinMemory(Task<T> work, Otherwise otherwise) {
  try {
    T value = co_await work;
    co_return value;
  } catch (const std::bad_alloc&) {
    co_return otherwise();
  }
}

}  // namespace pa
