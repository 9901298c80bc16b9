// Runner: runs confined commands; owns the loop's side of every worker, the queue and the slots.
//
//   Runner runner(loop, config);
//   Execution e = co_await runner.Run(plan, allow, options);
//
// At most policy.limits.concurrent commands at a time, policy.limits.queue waiting, then `busy`;
// what only looks has places of its own (supervisor/run/lanes.h). Commands with the same
// serialise_key (git in one repository) run one after the other, those of the user's other servers
// included: for these a command waits in its place, at most as long as its wall_time
// (supervisor/run/repository_lock.h). Each running command has a slot: a private TMPDIR and the
// Landlock ruleset that grants it; slots are kept and reused, because the guardian leaves the
// directory empty, and thrown away when it could not.
#pragma once

#include <uv.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "policy/decide.h"
#include "policy/repository.h"
#include "sandbox/enforcement.h"
#include "supervisor/loop/cancel_source.h"
#include "supervisor/loop/file_turns.h"
#include "supervisor/loop/task.h"
#include "supervisor/results/result_store.h"
#include "supervisor/run/command_plan.h"
#include "supervisor/run/execution.h"
#include "supervisor/run/lanes.h"
#include "supervisor/run/output_sink.h"
#include "supervisor/run/run_record.h"

namespace pa {

struct RunnerConfig {
  std::string worker_path;  // project-actions-worker
  std::string tmp_base;     // where the instance directory is made: $TMPDIR or /tmp
  std::string state_home;   // where protected_paths_guard.h keeps what it takes away; "" = nowhere
  // Sees the order of each command before it runs, as `project-actions-worker --spec` reads it.
  std::function<void(const std::string& spec)> on_spec;
  // Nothing may be alive a second after the client is gone, whatever grace the policy has.
  std::chrono::milliseconds shutdown_grace{500};
};

struct RunOptions {
  std::string name;            // of stored output: "make test"; "" = the executable's
  OutputSink* sink = nullptr;  // borrowed until Run returns
  // Borrowed until Run returns. Null: nobody cancels what finishes a call, and it may begin while
  // the server ends.
  CancelSource* cancel = nullptr;
  std::string serialise_key;  // "" = none
  std::optional<policy::Repository> repository =
      {};               // of the key: what a killed git leaves there is cleared
  bool capture = true;  // false: output goes to the sink alone (make's database)
  Delivery delivery = Delivery::kLive;
  RunRecord* record = nullptr;  // borrowed until Run returns: notes what was run
};

class Runner {
 public:
  Runner(uv_loop_t* loop, RunnerConfig config, ResultStore& store);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Limits of queue and output come from `policy`.
  Task<Execution> Run(CommandPlan plan, policy::Allow allow, policy::PolicyPtr policy,
                      RunOptions options);

  // Tries from inside the confinement of `allow` what it must deny; probe_tried and probe_denied of
  // the result say what came of it (worker/probe.h), 0 where there was nothing to try. Run does
  // this by itself before the first command of a policy, and runs nothing if anything was not
  // denied: "enforced" is observed, not assumed. With `namespaces: auto` this is where it shows
  // whether there are any; if not, it is tried again without.
  Task<Execution> Probe(policy::WorkingDirectory directory, policy::Allow allow,
                        policy::PolicyPtr policy);

  // Nobody waits for results any more: no call begins, what one looks at before its command is
  // given up, and after half a second all that runs is ended by force. Until then what is cancelled
  // can end politely, and what finishes a call can run.
  void BeginShutdown();
  // Begins it, if it has not, refuses all that waits and ends what runs: politely until that half
  // second is over. `done` is called from the loop when nothing is left, no process and no
  // temporary directory (one that cannot be removed within half a second is left to the next
  // instance).
  void Shutdown(std::function<void()> done);
  // A directory of ours that is to be removed, by and by.
  void Discard(const std::string& path);
  // Whether an hour has passed since it said so, if it did: for looks at what has grown old.
  bool OnceAnHour();
  // Nothing that was kept for the next command serves one: the policy is another, or what is
  // mounted. What runs, or waits, goes on.
  void Renew();
  uv_loop_t* loop() const;
  std::size_t running() const;
  FileTurns& file_turns();
  Lanes& beginnings();                    // of calls: PlacesToBegin
  const std::string& state_home() const;  // RunnerConfig's

  // What the kernel gives, and as soon as a policy was probed, whether workers get namespaces.
  sandbox::KernelFeatures Kernel() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pa
