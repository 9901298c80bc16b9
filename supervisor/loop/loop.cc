#include "supervisor/loop/loop.h"

#include <signal.h>

#include <cassert>
#include <utility>

namespace pa {

Loop::Loop() { uv_loop_init(&loop_); }

Loop::~Loop() {
  uv_run(&loop_, UV_RUN_DEFAULT);  // the last close callbacks
  [[maybe_unused]] const int status = uv_loop_close(&loop_);
  assert(status == 0);
}

struct SignalWatch::Handle {
  uv_signal_t signal;
  std::function<void()> callback;
};

SignalWatch::SignalWatch(uv_loop_t* loop, int signal, std::function<void()> callback)
    : handle_(new Handle{.signal = {}, .callback = std::move(callback)}) {
  uv_signal_init(loop, &handle_->signal);
  handle_->signal.data = handle_;
  uv_signal_start(
      &handle_->signal,
      [](uv_signal_t* watch, int) { static_cast<Handle*>(watch->data)->callback(); }, signal);
  uv_unref(reinterpret_cast<uv_handle_t*>(&handle_->signal));
}

SignalWatch::~SignalWatch() {
  uv_close(reinterpret_cast<uv_handle_t*>(&handle_->signal),
           [](uv_handle_t* watch) { delete static_cast<Handle*>(watch->data); });
}

namespace {

void SetBlocked(int how, int signal) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, signal);
  sigprocmask(how, &signals, nullptr);
}

}  // namespace

void HoldSignal(int signal) { SetBlocked(SIG_BLOCK, signal); }

void ReleaseSignal(int signal) { SetBlocked(SIG_UNBLOCK, signal); }

}  // namespace pa
