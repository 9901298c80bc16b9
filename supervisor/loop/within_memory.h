// WithinMemory: catches std::bad_alloc of a task, so that work that asks for too much memory ends
// there, and the server and the other calls go on.
//
//    Task<ToolResult> task =
//        WithinMemory(std::move(work), [] { return RefusedCall(OutOfMemory()); });
//    ToolResult result = co_await task;
//
// Use it where something has to follow in any case: restore, compare, record, answer.
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
