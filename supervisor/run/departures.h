// Departures: workers that have said how their command ended, with nothing of the tree alive, and only
// have to exit. No reply waits for that.
//
//   departures.Add(pid);   // ours to reap no more
#pragma once

#include <sys/types.h>
#include <uv.h>

#include <chrono>
#include <list>

#include "supervisor/loop/uv_handles.h"

namespace pa {

class Departures {
 public:
  explicit Departures(uv_loop_t* loop) : timer_(loop) {}
  // Those that are still there are killed.
  ~Departures();
  Departures(const Departures&) = delete;
  Departures& operator=(const Departures&) = delete;

  // A child of ours that nobody has reaped. It is, soon; killed first if it is still there after a
  // second.
  void Add(pid_t pid);
  bool Contains(pid_t pid) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker {
    pid_t pid;
    Clock::time_point since;
  };
  void Look();

  std::list<Worker> workers_;
  TimerHandle timer_;
};

}  // namespace pa
