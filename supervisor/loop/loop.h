// Loop and SignalWatch: libuv's event loop and its signals, owned.
//
//   Loop loop;
//   ... SignalWatch hangup(loop.get(), SIGHUP, [] { ... }); ...
//   loop.Run();
#pragma once

#include <uv.h>

#include <functional>

namespace pa {

// A loop that asserts at its end that nothing of it was forgotten.
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  uv_loop_t* get() { return &loop_; }
  void Run() { uv_run(&loop_, UV_RUN_DEFAULT); }

 private:
  uv_loop_t loop_;
};

// A signal as a callback; closes itself with its owner, which must let the loop run once more.
class SignalWatch {
 public:
  SignalWatch(uv_loop_t* loop, int signal, std::function<void()> callback);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  struct Handle;
  Handle* handle_;  // frees itself when closed
};

}  // namespace pa
