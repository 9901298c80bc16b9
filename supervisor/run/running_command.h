// RunningCommand: the supervisor's side of one WorkerProcess while its command runs: polls, timers,
// output, and the order in which it ends.
//
//    RunningCommand command(context, std::move(worker), std::move(options));
//    Result<void> started = command.Start();
//    Completion<Execution>& done = command.done();
//    Execution execution = co_await done;
//
// A command is done when the guardian has reported that no process of its tree is alive, and both
// pipes are at their end. If the guardian exits without a report, we reap it and kill what it left.
// If a process outside the tree still holds a pipe, we wait a second for it, and no longer.
#pragma once

#include <uv.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "supervisor/loop/task.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/run/captured_output.h"
#include "supervisor/run/command_network.h"
#include "supervisor/run/exiting_workers.h"
#include "supervisor/run/orphans.h"
#include "supervisor/run/worker_process.h"

namespace pa {

// What all commands of a runner share. It outlives them.
struct RunningContext {
  uv_loop_t* loop;
  std::span<char> buffer;  // for one read
  Orphans& orphans;
  ExitingWorkers& exiting_workers;
  std::function<bool(pid_t)> is_worker;  // true also if the process may be one
  // Launchers::AllKnown.
  std::function<bool(bool by_force)> all_workers_known;
};

struct RunningOptions {
  std::chrono::milliseconds wall_time{0};  // 0: none
  std::chrono::milliseconds grace{0};
  std::chrono::seconds cpu_time{0};  // of the whole tree, if it has a cgroup; 0: none
  bool alone = false;                // worker::IsAlone: it reads no cancel while it works
  OutputSink* sink = nullptr;        // may be null
  Delivery delivery = Delivery::kLive;
  std::optional<CapturedOutput> out;  // nothing: output is not kept
  std::optional<CapturedOutput> err;
};

class RunningCommand final : public HasOwnNetwork {
 public:
  RunningCommand(RunningContext& context, SpawnedWorker worker, RunningOptions options);
  ~RunningCommand();
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  // After an error done() still gets its value, once nothing of the command is left.
  Result<void> Start();
  Completion<Execution>& done() { return done_; }

  void Cancel();  // in order; by force after the grace
  void HangUp();  // at once
  Task<Result<CommandNetwork>> Network() override;
  Task<Result<UniqueFd>> Connect(std::uint16_t port) override;
  const CommandNetwork& network() const { return network_; }  // null: nobody has asked for it
  pid_t pid() const { return worker_.fds().pid; }
  bool tmp_clean() const { return worker_.tmp_clean(); }

 private:
  struct Pipe {
    Stream stream;
    int fd;
    std::optional<CapturedOutput> captured;
    bool open;        // not at its end yet
    PollHandle poll;  // empty: it is not watched
    bool held = false;
    bool wide = false;
    std::uint64_t total = 0;
  };

  Result<void> Begin();
  void OnControl();
  Task<Result<UniqueFd>> Ask(worker::AskOrder order);
  void TakeGiven();
  void Await();
  void TellNobody(int code);
  void OnHangUp();
  void AwaitExit();
  Result<void> Watch(Pipe& pipe);
  void WatchOrGiveUp(Pipe& pipe);
  void OnBulkTime();
  void ReadInBulk();
  void OnExit();
  void OnPipe(Pipe& pipe);
  void Read(Pipe& pipe);
  static void End(Pipe& pipe);
  void ReadWhatIsThere(Pipe& pipe);
  static void Widen(Pipe& pipe);
  void Deliver(Pipe& pipe, std::string_view bytes);
  void Pass(Pipe& pipe, std::string_view bytes);
  bool Held() const;
  void Hold(Pipe& pipe);
  void Resume(Pipe& pipe);
  void OnSettled();
  void StartDrainTime();
  void OnDrainTime();
  void OnOverdue();
  void WatchCpuTime();
  void LookAgainAfter(std::chrono::microseconds used);
  void HuntOrphans();
  bool Over() const;
  void FinishIfDone();
  static Captured Finish(Pipe& pipe, const Pipe& other);

  RunningContext& context_;
  WorkerProcess worker_;
  std::chrono::milliseconds wall_time_;
  std::chrono::milliseconds grace_;
  std::chrono::seconds cpu_time_;
  bool alone_;
  OutputSink* sink_;
  Delivery delivery_;
  Pipe out_;
  Pipe err_;
  PollHandle control_;
  TimerHandle deadline_;  // first for the guardian, then for the pipes
  TimerHandle bulk_;
  TimerHandle reap_;
  TimerHandle hunt_;
  TimerHandle cpu_;
  TimerHandle patience_;    // of those who have asked
  CommandNetwork network_;  // null: nobody has asked
  // Who has asked the guardian, in that order; null: waits no more.
  std::deque<Completion<Result<UniqueFd>>*> asking_;
  int hunts_ = 0;
  int waits_ = 0;
  bool hunting_ = false;
  bool settled_ = false;
  bool cancelled_ = false;
  bool withheld_ = false;   // output was dropped, because the command was cancelled
  bool no_memory_ = false;  // to keep the output
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  // For the callback that an OutputGate holds: it cannot be withdrawn.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Completion<Execution> done_;
};

}  // namespace pa
