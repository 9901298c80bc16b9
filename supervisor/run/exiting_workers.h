// ExitingWorkers: workers that have said how their command ended, with nothing of the tree alive,
// and only have to exit. No reply waits for that.
//
//   exiting_workers.Add(pid);   // ours to reap no more
#pragma once

#include <sys/types.h>
#include <uv.h>

#include <chrono>
#include <list>

#include "supervisor/loop/uv_handles.h"

namespace pa {

class ExitingWorkers {
 public:
  explicit ExitingWorkers(uv_loop_t* loop) : timer_(loop) {}
  // Those that are still there are killed.
  ~ExitingWorkers();
  ExitingWorkers(const ExitingWorkers&) = delete;
  ExitingWorkers& operator=(const ExitingWorkers&) = delete;

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
