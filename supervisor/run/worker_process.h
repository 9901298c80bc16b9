// WorkerProcess: one worker, as its packets and its end tell of it. Entirely passive, as ninja's
// Subprocess: it owns the descriptors and reads when told that there is something to read; whoever
// owns the loop (RunningCommand) tells it.
//
//   WorkerProcess worker(std::move(spawned));
//   if (!worker.ReadControl()) ...              // control socket readable; false: hung up
//   if (worker.Reap()) ...                      // after the hang-up
//   Execution execution = worker.Describe();    // when settled and reaped
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "supervisor/run/execution.h"
#include "supervisor/run/spawn_worker.h"
#include "worker/status.h"

namespace pa {

class WorkerProcess {
 public:
  explicit WorkerProcess(SpawnedWorker worker) : worker_(std::move(worker)) {}
  // A worker that nobody waited for is ended here: hang-up, kill, reap.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  const SpawnedWorker& fds() const { return worker_; }

  // Takes all packets that wait. False: no more can come.
  bool ReadControl();
  // True once the worker is dead and reaped; takes what it said last.
  bool Reap();

  void Cancel();         // ends the tree politely; once
  void HangUp();         // the guardian kills the tree at once, and still reports
  void Kill(bool late);  // SIGKILL to the guardian itself. `late`: because its time is over
  // As Kill, of a guardian that hung up and is not dead yet. It may be dying of what another did,
  // and the end of its namespace takes its time: the wait status says which, not that we killed it.
  void KillHungUp();
  // Ends a tree that has used up what its cgroup counts.
  void Exceed(worker::Limit limit);
  // Of the whole tree, also of what has ended; nothing without a cgroup.
  std::optional<std::chrono::microseconds> CpuTime() const;

  // The caller's to reap from now on.
  pid_t Release();

  // Nothing of the tree runs any more: the guardian said so, or nothing was ever started.
  bool settled() const { return state_ == State::kEnded || state_ == State::kSetupFailed; }
  // The guardian waited for everything that it started; otherwise something may come to us as an
  // orphan.
  bool tree_reaped() const { return state_ == State::kEnded && status_.survivors == 0; }
  // Killed, not by us, before anything of the order was done: it can be given to another.
  bool never_began() const;
  bool broken() const { return state_ == State::kBroken; }  // it does not speak our protocol
  bool reaped() const { return reaped_; }
  bool tmp_clean() const { return state_ == State::kEnded && status_.tmp_clean == 1; }

  // Outcome and what belongs to it; not the output.
  Execution Describe() const;

 private:
  enum class State { kRunning, kEnded, kSetupFailed, kBroken };

  void OnPacket(const worker::WorkerStatus& packet);
  void Break(std::string why);
  void DescribeEnd(Execution& execution) const;
  void DescribeSilence(Execution& execution) const;
  worker::Limit ExceededInGroup() const;

  SpawnedWorker worker_;
  State state_ = State::kRunning;
  worker::WorkerStatus status_;  // the packet
  std::string broken_why_;
  worker::Limit exceeded_ = worker::Limit::kNone;  // as we have seen
  bool cancelled_ = false;
  bool late_ = false;
  bool killed_ = false;  // by us
  bool reaped_ = false;
  int wait_code_ = 0;  // CLD_EXITED, CLD_KILLED, CLD_DUMPED
  int wait_status_ = 0;
};

}  // namespace pa
