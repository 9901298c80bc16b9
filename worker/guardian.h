// Guardian: stays beside the command until nothing that it started is alive. Freestanding.
//
//   Guardian guardian(watch, *tree);
//   Guardian::End end = guardian.Run();
//
// Whatever ends the command (its own exit, the deadline, a cancel, a limit, the supervisor's
// death), the whole tree ends with it. What outlives the command may finish by itself for a moment
// (`> >(tee log)`), then gets SIGTERM (git removes its lock files), then SIGKILL.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "sandbox/values.h"
#include "worker/process_tree.h"
#include "worker/status.h"

namespace pa::worker {

// What the guardian looks after. Borrows the descriptors.
struct Watch {
  pid_t command = 0;
  int control_fd = -1;  // -1: run by hand
  int signal_fd = -1;   // SIGCHLD, and what asks us to end: SIGTERM, SIGINT, SIGHUP, SIGQUIT
  std::uint64_t started_us = 0;
  bool namespaces = false;  // we are the first process of a pid namespace
  sandbox::ResourceLimits limits;
};

std::uint64_t MonotonicMicroseconds();

// Whether the guardian looks at the tree now and then (ProcessTree::Measure).
bool IsSampled(const sandbox::ResourceLimits& limits);

class Guardian {
 public:
  Guardian(const Watch& watch, ProcessTree& tree);

  struct End {
    WorkerStatus status;    // kEnded
    bool orphaned = false;  // the supervisor is dead: nobody reads the status
  };
  End Run();

 private:
  // In this order, never back. kDraining: the command has exited, what is left may end by itself.
  enum class Phase { kRunning, kDraining, kTerminating, kKilling, kGivenUp };

  std::uint64_t Now() const;  // milliseconds since the start
  int MillisecondsToWait() const;
  void WaitForEvents();
  void ReadControl();
  void ReadSignals();
  void Reap();
  void NoteExit(int wait_status);
  void Measure();
  void Advance();
  void Cancel();
  void EndPolitely(EndReason reason, std::uint64_t grace_ms);
  void Kill(EndReason reason);
  void Signal(int signal);
  void Enter(Phase phase, std::uint64_t lasts_ms);
  WorkerStatus Summary() const;

  const Watch watch_;
  ProcessTree& tree_;
  int control_fd_;
  Phase phase_ = Phase::kRunning;
  std::uint64_t phase_ends_;   // when Advance has something to do
  std::uint64_t next_sample_;  // never, when no limit needs one
  std::uint64_t kill_began_ = 0;
  bool command_alive_ = true;
  bool tree_alive_ = true;
  bool signalled_ = false;
  bool orphaned_ = false;
  WorkerStatus status_;
};

}  // namespace pa::worker
