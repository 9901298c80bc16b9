// ExitingWorkers: reaps workers that only have to exit, because they have reported how their
// command ended, or were killed. Nothing of their process trees is alive, and no reply waits for
// their exit.
//
//    exiting_workers.Add(pid);   // the caller must not reap it any more
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
  // Kills and reaps the workers that are left.
  ~ExitingWorkers();
  ExitingWorkers(const ExitingWorkers&) = delete;
  ExitingWorkers& operator=(const ExitingWorkers&) = delete;

  // `pid`: a child of ours that was not reaped. It is reaped once it exits, and killed if it is
  // still there after a second.
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
