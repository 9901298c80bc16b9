// Runner: runs confined commands. It owns the supervisor's side of every worker, the queues and the
// slots.
//
//    Runner runner(loop, config, store);
//    Task<Execution> task = runner.Run(plan, allow, policy, options);
//    Execution execution = co_await task;
//
// At most policy.limits.concurrent commands run at a time, policy.limits.queue wait, and further
// ones are `busy`; commands that only look have places of their own (supervisor/run/lanes.h).
// Commands with the same serialise_key (git in one repository) run one after the other, those of
// the user's other servers included: for these a command waits in its place, at most for its
// wall_time (supervisor/run/repository_lock.h). Each running command has a slot: a private TMPDIR
// and the Landlock ruleset that grants it. The guardian leaves the directory empty, so slots are
// kept and reused; a slot whose directory could not be emptied is discarded.
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
#include "supervisor/janitor/janitor_process.h"
#include "supervisor/loop/cancel_source.h"
#include "supervisor/loop/file_turns.h"
#include "supervisor/loop/spawner.h"
#include "supervisor/loop/task.h"
#include "supervisor/results/result_store.h"
#include "supervisor/run/command_network.h"
#include "supervisor/run/command_plan.h"
#include "supervisor/run/execution.h"
#include "supervisor/run/index_uses.h"
#include "supervisor/run/lanes.h"
#include "supervisor/run/output_sink.h"
#include "supervisor/run/repository_finder.h"
#include "supervisor/run/run_record.h"
#include "supervisor/state/git_identity.h"

namespace pa {

struct RunnerConfig {
  std::string worker_path;               // project-actions-worker
  std::string tmp_base;                  // parent of the instance directory: $TMPDIR or /tmp
  std::string state_home;                // parent of the state directory; "" = there is none
  std::string janitor = kOwnExecutable;  // the program that is the janitor (JanitorProcess)
  // Starts launchers and the janitor in place of us; borrowed. Null: nobody does.
  Spawner* spawner = nullptr;
  // Receives the order of each command before it runs, as `project-actions-worker --spec` reads it.
  std::function<void(const std::string& spec)> on_spec;
  // No process may be alive a second after the client is gone, whatever grace the policy has.
  std::chrono::milliseconds shutdown_grace{500};
};

struct RunOptions {
  std::string name;            // of the stored output: "make test"; "" = the name of the executable
  OutputSink* sink = nullptr;  // borrowed until Run returns
  // Borrowed until Run returns. Null: the command finishes a call. Nobody cancels it, and it may
  // still begin after BeginShutdown.
  CancelSource* cancel = nullptr;
  std::string serialise_key;  // "" = none
  // The repository of serialise_key: locks that a killed git left there are removed.
  std::optional<policy::Repository> repository = {};
  bool capture = true;  // false: only the sink gets the output (make's database)
  Delivery delivery = Delivery::kLive;
  RunRecord* record = nullptr;   // borrowed until Run returns; gets the commands that ran
  std::string watch_index = {};  // the file of Execution::read_index; "" = none
  // Of which the command changes a copy: a mount of kind kOverlay. Without namespaces it does not
  // run.
  std::optional<sandbox::Mount> overlay = {};
  bool can_do_without = false;  // the overlay: where there is none, the command runs all the same
  // With serialise_key: called before the command, when no other one changes the repository any
  // more, and after it, while that is still so.
  std::function<Task<bool>()> begins = {};
  std::function<Task<bool>(const Execution&)> ended = {};
  bool in_turn = false;  // `ended` of another command runs it, so it waits for no place
  // In which the command runs, of one that runs already; null: as its confinement says. Only for
  // network: loopback. If the kernel does not grant it, the command does not run.
  CommandNetwork network = {};
};

class Runner {
 public:
  Runner(uv_loop_t* loop, RunnerConfig config, ResultStore& store);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // The limits of queue and output are those of `policy`.
  Task<Execution> Run(CommandPlan plan, policy::Allow allow, policy::PolicyPtr policy,
                      RunOptions options);

  // Makes the attempts that the confinement of `allow` must deny, from inside it (worker/probe.h).
  // probe_tried and probe_denied of the result say which attempts were made, and which were denied;
  // both are 0 if there was nothing to try. Run probes by itself before the first command of a
  // policy, and runs nothing if an attempt was not denied: "enforced" is observed, not assumed.
  // With `namespaces: auto` the probe shows whether namespaces are granted; if they are not, it is
  // repeated without them.
  Task<Execution> Probe(policy::WorkingDirectory directory, policy::Allow allow,
                        policy::PolicyPtr policy);

  // Call it when nobody waits for results any more. No call begins, the searches before a command
  // are cancelled, and after shutdown_grace (half a second) everything that runs is killed. Until
  // then cancelled commands can end in order, and commands that finish a call can run.
  void BeginShutdown();
  // Calls BeginShutdown, refuses the commands that wait and cancels those that run; they can end in
  // order until that half second is over. `done` is called from the loop once no process and no
  // temporary directory is left (a directory that cannot be removed within half a second is left to
  // the next instance).
  void Shutdown(std::function<void()> done);
  // Removes a directory of ours, by the janitor (TreeRemover).
  void Discard(const std::string& path);
  // Nobody asks for anything at present: gives up what can be made again.
  void Rest();
  // True at most once an hour: for the removal of what has expired.
  bool OnceAnHour();
  // Discards everything that was kept for further commands, because the policy or the mounts have
  // changed. Commands that run or wait go on.
  void Renew();
  // With a spawner: before the first call, and with each other policy.
  void Follow(const policy::PolicyPtr& policy);
  // The directory in which the TMPDIRs are, made now; "": it cannot be made.
  std::string Instance();
  // The cgroup in which each command gets one of its own; "": there are none. Moves this process
  // and those that descend from it into a leaf of it.
  std::string Cgroup();
  uv_loop_t* loop() const;
  // The repository of a directory, which commands can reach from now on.
  Task<RepositoryFinder::Found> FindRepository(policy::PolicyPtr policy,
                                               policy::WorkingDirectory directory);
  // Of the commits of commands.
  Task<GitIdentity::Given> FindIdentity(policy::PolicyPtr policy);
  Janitor& janitor();  // for work in trees that commands write
  std::size_t running() const;
  std::size_t waiting() const;  // commands, and calls that are to begin
  FileTurns& file_turns();
  IndexUses& index_uses();                // of repositories that commands cannot write
  Lanes& beginnings();                    // for calls that are to begin: PlacesToBegin
  const std::string& state_home() const;  // RunnerConfig's

  // Whether the command gets namespaces, as far as that is known: it is once a policy was probed.
  bool UsesNamespaces(const policy::Allow& allow) const;
  // What the kernel grants. Whether workers get namespaces is known once a policy was probed.
  sandbox::KernelFeatures Kernel() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pa
