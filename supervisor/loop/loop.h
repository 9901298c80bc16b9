// Loop and SignalWatch: own libuv's event loop and its signal handles.
//
//    Loop loop;
//    ... SignalWatch hangup(loop.get(), SIGHUP, [] { ... }); ...
//    loop.Run();
#pragma once

#include <uv.h>

#include <functional>

namespace pa {

// The destructor asserts that no handle of the loop was left open.
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

// Calls back when a signal comes. The loop must run once more after the destructor.
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

// A signal that comes meanwhile waits: until there is a SignalWatch it would end the process. What
// is forked inherits it.
void HoldSignal(int signal);
void ReleaseSignal(int signal);

}  // namespace pa
