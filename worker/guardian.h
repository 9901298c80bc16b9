// Guardian: watches the command until no process that it started is alive. Freestanding.
//
//    Guardian guardian(watch, *tree);
//    Guardian::End end = guardian.Run();
//
// Whatever ends the command (its own exit, the deadline, a cancel, a limit, the supervisor's
// death), the whole tree ends with it. Processes that outlive the command get a moment to end by
// themselves (`> >(tee log)`), then SIGTERM (on which git removes its lock files), then SIGKILL.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "sandbox/values.h"
#include "worker/process_tree.h"
#include "worker/status.h"

namespace pa::worker {

// The input of the guardian. The descriptors are borrowed.
struct Watch {
  pid_t command = 0;
  int control_fd = -1;  // -1: run by hand
  // A signalfd of SIGCHLD and of the cancel signals: SIGTERM, SIGINT, SIGHUP, SIGQUIT.
  int signal_fd = -1;
  std::uint64_t started_us = 0;
  bool namespaces = false;  // this process is the first of a pid namespace
  sandbox::ResourceLimits limits;
};

std::uint64_t MonotonicMicroseconds();

// Whether the limits require the guardian to sample the tree (ProcessTree::Measure).
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
  // In this order, never back. kDraining: the command has exited, and the rest of the tree may end
  // by itself.
  enum class Phase { kRunning, kDraining, kTerminating, kKilling, kGivenUp };

  std::uint64_t Now() const;  // milliseconds since the start
  int MillisecondsToWait() const;
  void WaitForEvents();
  void ReadControl();
  void Answer(const AskOrder& order) const;
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
  std::uint64_t phase_ends_;   // when Advance is due
  std::uint64_t next_sample_;  // never, if no limit needs samples
  std::uint64_t kill_began_ = 0;
  bool command_alive_ = true;
  bool tree_alive_ = true;
  bool signalled_ = false;
  bool orphaned_ = false;
  WorkerStatus status_;
};

}  // namespace pa::worker
