// WorkerProcess: the state of one worker, as its packets and its exit show it. It is entirely
// passive, like ninja's Subprocess: it owns the descriptors, and reads when the owner of the loop
// (RunningCommand) says that there is something to read.
//
//    WorkerProcess worker(std::move(spawned));
//    if (!worker.ReadControl()) ...              // control socket readable; false: hung up
//    if (worker.Reap()) ...                      // after the hang-up
//    Execution execution = worker.Describe();    // when settled and reaped
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "supervisor/run/execution.h"
#include "supervisor/run/spawn_worker.h"
#include "worker/status.h"

namespace pa {

class WorkerProcess {
 public:
  explicit WorkerProcess(SpawnedWorker worker) : worker_(std::move(worker)) {}
  // Ends a worker that was not reaped: hang-up, kill, reap.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  const SpawnedWorker& fds() const { return worker_; }

  // Reads all packets that have arrived. False: no more can come.
  bool ReadControl();
  // True once the worker is dead and reaped; reads its last packets.
  bool Reap();

  // Asks the guardian for a descriptor; ReadControl gets it. False: it is gone.
  bool Ask(const worker::AskOrder& order);
  // The next that has come, or why there is none, in the order in which they were asked for;
  // nothing: none has come.
  std::optional<Result<UniqueFd>> TakeGiven();

  void Cancel();         // ends the tree in order; further calls do nothing
  void HangUp();         // the guardian kills the tree at once, and still reports
  void Kill(bool late);  // SIGKILL to the guardian and its cgroup. `late`: it is overdue
  // As Kill, for a guardian that hung up and is not dead yet. Another process may have killed it:
  // the end of its namespace takes some time. So the wait status says how it ended, and this kill
  // is not recorded as ours.
  void KillHungUp();
  // Kills a tree that has used up `limit`, as its cgroup counts it.
  void Exceed(worker::Limit limit);
  // Of the whole tree, including processes that have ended; nothing without a cgroup.
  std::optional<std::chrono::microseconds> CpuTime() const;

  // The caller has to reap it from now on.
  pid_t Release();

  // Nothing of the tree runs any more: the guardian said so, or nothing was ever started.
  bool settled() const { return state_ == State::kEnded || state_ == State::kSetupFailed; }
  // The guardian reaped every process that it started; otherwise orphans may come to us.
  bool tree_reaped() const { return state_ == State::kEnded && status_.survivors == 0; }
  // Killed, not by us, before it carried out any of the order: another worker can have the order.
  bool never_began() const;
  bool broken() const { return state_ == State::kBroken; }  // it violated the protocol
  bool reaped() const { return reaped_; }
  bool tmp_clean() const { return state_ == State::kEnded && status_.tmp_clean == 1; }

  // The outcome and its details, without the output.
  Execution Describe() const;

 private:
  enum class State { kRunning, kEnded, kSetupFailed, kBroken };

  void OnPacket(const worker::WorkerStatus& packet, UniqueFd descriptor);
  void Break(std::string why);
  void DescribeEnd(Execution& execution) const;
  void DescribeSilence(Execution& execution) const;
  worker::Limit ExceededInGroup() const;

  SpawnedWorker worker_;
  State state_ = State::kRunning;
  worker::WorkerStatus status_;  // the final packet
  std::string broken_why_;
  std::size_t asked_ = 0;  // and not given
  std::deque<Result<UniqueFd>> given_;
  worker::Limit exceeded_ = worker::Limit::kNone;  // the limit for which we killed it
  bool cancelled_ = false;
  bool late_ = false;
  bool killed_ = false;  // by us
  bool reaped_ = false;
  int wait_code_ = 0;  // CLD_EXITED, CLD_KILLED, CLD_DUMPED
  int wait_status_ = 0;
};

}  // namespace pa
