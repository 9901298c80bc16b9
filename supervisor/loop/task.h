// Task<T>: a coroutine that runs on the loop's thread, so that a tool reads from top to bottom.
//
//    Task<ToolResult> RunMake(ToolRequest request, CallContext& call) {
//      Task<Execution> task = call.runner.Run(plan, allow, policy, options);
//      Execution run = co_await task;
//      co_return Render(run);
//    }
//    Detach(RunMake(request, call), done);    // starts it; it frees itself at the end
//
// A task is lazy: it does not run until it is awaited or detached. An exception, which can only be
// std::bad_alloc, goes to the awaiter; none may leave a detached task. There is one thread, so no
// locks are needed. A Completion<T> turns a callback into something that can be awaited. Because of
// GCC 12 (PR 104031, PR 105287): bind every co_await to a named variable in a statement of its own,
// and pass no braced temporaries to a coroutine.
#pragma once

#include <cassert>
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace pa {

template <typename T>
class [[nodiscard]] Task {
 public:
  struct promise_type {
    std::optional<T> value;
    std::exception_ptr failure;
    std::coroutine_handle<> continuation;

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().continuation;
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    template <typename U>
    void return_value(U&& result) {
      value.emplace(std::forward<U>(result));
    }
    void unhandled_exception() noexcept { failure = std::current_exception(); }
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().continuation = caller;
    return handle_;
  }
  T await_resume() {
    if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
    return std::move(*handle_.promise().value);
  }

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

// The coroutine frame that Detach makes; it destroys itself when it ends.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

// Starts `task` now and hands its value to `done` when it ends.
template <typename T, typename Done>
Detached Detach(Task<T> task, Done done) {
  T value = co_await task;
  done(std::move(value));
}

// A value that a callback will deliver: one co_await and one Set, in either order.
template <typename T>
class Completion {
 public:
  Completion() = default;
  // GCC 12 awaits a copy of what a function returns by reference: bind it to a variable first.
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  void Set(T value) {
    assert(!value_);
    value_.emplace(std::move(value));
    if (waiting_) std::exchange(waiting_, nullptr).resume();
  }
  bool await_ready() const noexcept { return value_.has_value(); }
  void await_suspend(std::coroutine_handle<> caller) noexcept { waiting_ = caller; }
  T await_resume() { return std::move(*value_); }

 private:
  std::optional<T> value_;
  std::coroutine_handle<> waiting_;
};

}  // namespace pa
