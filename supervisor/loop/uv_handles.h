// PollHandle and TimerHandle: libuv handles that are closed with their owner.
//
//    Result<PollHandle> created = PollHandle::Create(loop, fd, [this] { OnReadable(); });
//    PollHandle poll = std::move(*created);
//    poll.Start();                     // readable, hung up or in error: the reader finds out which
//    poll.Stop();
//
// libuv needs the memory of a handle until its close callback has run, which is after the owner is
// gone; and the owner may be destroyed in the handle's own callback. So the memory is on the heap
// and frees itself. A PollHandle must be closed before its descriptor is.
#pragma once

#include <uv.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/error.h"

namespace pa {

template <typename Handle>
struct UvState {
  Handle handle;
  std::function<void()> callback;
  bool closing = false;
};

// Closes the handle. The loop deletes it after that.
template <typename Handle>
struct UvClose {
  void operator()(UvState<Handle>* state) const {
    state->closing = true;
    uv_close(reinterpret_cast<uv_handle_t*>(&state->handle),
             [](uv_handle_t* handle) { delete static_cast<UvState<Handle>*>(handle->data); });
  }
};

template <typename Handle>
using UvPtr = std::unique_ptr<UvState<Handle>, UvClose<Handle>>;

class PollHandle {
 public:
  PollHandle() = default;  // polls nothing

  // EEXIST, EPERM: the descriptor cannot be polled.
  static Result<PollHandle> Create(uv_loop_t* loop, int fd, std::function<void()> on_readable) {
    auto fresh = std::make_unique<UvState<uv_poll_t>>();
    const int code = uv_poll_init(loop, &fresh->handle, fd);
    if (code != 0) return std::unexpected(Error("uv_poll_init", std::to_string(fd), -code));
    fresh->handle.data = fresh.get();
    fresh->callback = std::move(on_readable);
    PollHandle poll;
    poll.state_.reset(fresh.release());
    return poll;
  }

  // For `events`, UV_READABLE or UV_WRITABLE or both. libuv reports EPOLLERR as an error and stops
  // polling; the owner gets the error from its read.
  void Start(int events = UV_READABLE) {
    // libuv would take the descriptor out and put it in again, which is three system calls.
    const auto* const as_handle = reinterpret_cast<const uv_handle_t*>(&state_->handle);
    if (uv_is_active(as_handle) != 0 && events == events_) return;
    events_ = events;
    uv_poll_start(&state_->handle, events, [](uv_poll_t* handle, int, int) {
      auto* state = static_cast<UvState<uv_poll_t>*>(handle->data);
      if (!state->closing) state->callback();
    });
  }
  void Stop() { uv_poll_stop(&state_->handle); }
  void Unref() {
    uv_unref(reinterpret_cast<uv_handle_t*>(&state_->handle));
  }  // keeps no loop running
  void Close() { state_.reset(); }
  explicit operator bool() const { return state_ != nullptr; }

 private:
  UvPtr<uv_poll_t> state_;
  int events_ = 0;  // for which it was started
};

class TimerHandle {
 public:
  explicit TimerHandle(uv_loop_t* loop) : state_(new UvState<uv_timer_t>{}) {
    uv_timer_init(loop, &state_->handle);
    state_->handle.data = state_.get();
  }

  // Replaces an earlier delay and callback.
  void Start(std::chrono::milliseconds delay, std::function<void()> callback) {
    state_->callback = std::move(callback);
    const auto fire = [](uv_timer_t* handle) {
      auto* state = static_cast<UvState<uv_timer_t>*>(handle->data);
      if (state->closing) return;
      // The callback may start the timer again, or destroy its owner.
      const auto run = std::exchange(state->callback, nullptr);
      run();
    };
    uv_timer_start(&state_->handle, fire, static_cast<std::uint64_t>(delay.count()), 0);
  }
  void Stop() { uv_timer_stop(&state_->handle); }
  void Unref() {
    uv_unref(reinterpret_cast<uv_handle_t*>(&state_->handle));
  }  // keeps no loop running
  bool is_active() const {
    return uv_is_active(reinterpret_cast<const uv_handle_t*>(&state_->handle)) != 0;
  }

 private:
  UvPtr<uv_timer_t> state_;
};

}  // namespace pa
