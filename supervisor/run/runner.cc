#include "supervisor/run/runner.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/file_clock.h"
#include "base/finally.h"
#include "base/pack.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/turn.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/loop/within_memory.h"
#include "supervisor/run/call_groups.h"
#include "supervisor/run/captured_output.h"
#include "supervisor/run/order.h"
#include "supervisor/run/orphans.h"
#include "supervisor/run/reach.h"
#include "supervisor/run/repository_lock.h"
#include "supervisor/run/running_command.h"
#include "supervisor/run/slot_pool.h"
#include "supervisor/run/spawn_worker.h"
#include "supervisor/run/tree_guard.h"
#include "supervisor/run/trial.h"
#include "supervisor/run/view_cache.h"
#include "supervisor/state/state_directory.h"
#include "supervisor/state/tree_remover.h"

namespace pa {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kReadBytes = 256u << 10;
// Whoever kills workers that wait may kill the next one, too.
constexpr int kRunAttempts = 3;
// At the end: what is left then the next instance removes.
constexpr milliseconds kLastCleaning{500};
constexpr milliseconds kLookAgain{5};

// A loopback that is the host's would be no loopback of the command's own.
Execution NoLoopback(const std::string& why) {
  Execution execution;
  execution.failed_step = worker::Step::kNamespaces;
  execution.failure = "network: loopback needs namespaces, which are not granted here: " + why;
  return execution;
}

Execution NoOverlay(const std::string& why) {
  Execution execution;
  execution.failed_step = worker::Step::kOverlay;
  execution.failure = "a copy of a directory needs namespaces, which are not granted here: " + why;
  return execution;
}

// Only a cgroup withholds processors.
Execution NoCpuLimit(const std::string& why) {
  Execution execution;
  execution.failed_step = worker::Step::kLimits;
  execution.failure = "limits.cpus needs a cgroup v2 that is delegated to this server: " +
                      (why.empty() ? "this one is without the controller cpu" : why);
  return execution;
}

Execution WithoutSlot(const SlotFailure& failure) {
  Execution execution = FailedToStart(failure);
  if (failure.sandbox) execution.failed_step = worker::Step::kLandlock;
  return execution;
}

// As if the worker had refused it, which reads it by the same rules.
Execution WithoutOrder(const Error& error) {
  Execution execution = FailedToStart(error);
  execution.failed_step = worker::Step::kDecodeSpec;
  return execution;
}

std::string DefaultName(const CommandPlan& plan) {
  return plan.executable.substr(plan.executable.rfind('/') + 1);
}

CommandRecord RecordOf(const CommandPlan& plan, const Execution& execution) {
  return {.argv = plan.argv,
          .outcome = OutcomeName(execution.outcome),
          .exit_code = execution.exit_code,
          .signal = execution.signal,
          .duration = execution.duration,
          .output_bytes = execution.out.total_bytes + execution.err.total_bytes,
          .namespaces = execution.namespaces,
          .protected_changes = execution.protected_changes.size(),
          .strays_killed = execution.strays_killed};
}

}  // namespace

struct Runner::Impl {
  Impl(uv_loop_t* uv_loop, RunnerConfig runner_config, ResultStore& result_store)
      : loop(uv_loop),
        config(std::move(runner_config)),
        store(result_store),
        groups(std::in_place, uv_loop),
        exiting_workers(std::in_place, uv_loop),
        janitor_process(uv_loop, JanitorStart(),
                        [this](pid_t pid) {
                          exiting_workers->Add(pid);
                          Hunt();
                        }),
        janitor(janitor_process, config.spawner, config.state_home),
        remover(std::in_place, janitor),
        tree(uv_loop, janitor, config.state_home),
        slots(config.tmp_base,
              [this](HeldTree held, UniqueFd lock) {
                remover->Add(std::move(held), std::move(lock));
              }),
        trial({.run =
                   [this](const CommandPlan& plan, const policy::Allow& allow,
                          policy::PolicyPtr policy, bool namespaces, CancelSource* cancel) {
                     return Try(plan, allow, std::move(policy), namespaces, cancel);
                   },
               .canary = [this](const auto& confinement) { return slots.Canary(confinement); },
               .given_up = [this](const CancelSource* cancel) { return GivenUp(cancel); }}) {}

  Task<Execution> InTurn(const CommandPlan& plan, const policy::Allow& allow,
                         policy::PolicyPtr policy, const RunOptions& options);
  Task<Execution> InTurnWithOthers(const CommandPlan& plan, const policy::Allow& allow,
                                   policy::PolicyPtr policy, const RunOptions& options);
  Task<Execution> Guarded(const CommandPlan& plan, const policy::Allow& allow,
                          policy::PolicyPtr policy, const RunOptions& options);
  // `sealed`: what a command with namespaces cannot change although it lies in what it may write.
  // `namespaces`: decided once for a command, since a probe of another policy may change the answer
  // meanwhile.
  Task<Execution> Execute(const CommandPlan& plan, const policy::Allow& allow,
                          policy::PolicyPtr policy, const RunOptions& options, bool namespaces,
                          std::vector<sandbox::Mount> sealed = {});
  Task<Execution> ExecuteOnce(const CommandPlan& plan, const policy::Allow& allow,
                              policy::PolicyPtr policy, const RunOptions& options, bool namespaces,
                              const std::vector<sandbox::Mount>& sealed);
  Task<Execution> Try(const CommandPlan& plan, const policy::Allow& allow, policy::PolicyPtr policy,
                      bool namespaces, CancelSource* cancel);
  StartJanitor JanitorStart();
  StartLauncher LauncherStart();
  SlotOr AcquireSlot(const CommandPlan& plan, const policy::Allow& allow,
                     const policy::PolicyPtr& policy, bool namespaces);
  Task<Result<SpawnedWorker>> Spawn(const CommandPlan& plan, const policy::Allow& allow,
                                    const Slot& slot, const std::string& spec,
                                    const CommandNetwork& network);
  RunningOptions Capture(const CommandPlan& plan, const policy::Allow& allow,
                         const policy::Limits& limits, const RunOptions& options);
  Task<Execution> Await(RunningCommand& command, CancelSource* cancel);
  // Nobody waits for the command any more.
  bool GivenUp(const CancelSource* cancel) const {
    return closing || (cancel != nullptr && (shutting_down || cancel->cancelled()));
  }
  void NoteOverlay(const Execution& execution);
  void Begin();
  bool IsWorker(pid_t pid);
  void Close();
  void Hunt();
  void Idle();
  void Clean();

  uv_loop_t* loop;
  RunnerConfig config;
  ResultStore& store;
  std::optional<CallGroups> groups;  // this and the next three: until shutdown
  std::optional<Launchers> launchers;
  std::optional<ExitingWorkers> exiting_workers;
  JanitorProcess janitor_process;
  ReachingJanitor janitor;
  RepositoryFinder repositories{janitor};
  std::optional<TreeRemover> remover;
  TreeGuard tree;
  SlotPool slots;
  Trial trial;
  Lanes lanes;
  FileTurns file_turns;
  GitIdentity git_identity;
  IndexUses index_uses{loop};
  Lanes beginnings;
  ViewCache views;
  Orphans orphans;
  sandbox::KernelFeatures::Granted overlay = {};
  std::string no_overlay;
  std::vector<char> buffer;  // made at the first run: an idle supervisor is small
  std::set<RunningCommand*> active;
  std::optional<RunningContext> context;
  TimerHandle ahead{loop};
  TimerHandle hunt{loop};
  std::optional<std::chrono::steady_clock::time_point> last_hour;  // OnceAnHour
  bool shutting_down = false;                                      // no call begins
  bool closing = false;                                            // nothing does
  std::function<void()> shutdown_done;
  std::optional<TimerHandle> force;
  std::optional<TimerHandle> idle;
  std::chrono::steady_clock::time_point last_cleaning = {};
};

Runner::Runner(uv_loop_t* loop, RunnerConfig config, ResultStore& store)
    : impl_(std::make_unique<Impl>(loop, std::move(config), store)) {}

// Whoever still waits for the janitor is answered while all is there.
Runner::~Runner() { impl_->janitor_process.Close(); }

Task<Execution> Runner::Run(CommandPlan plan, policy::Allow allow, policy::PolicyPtr policy,
                            RunOptions options) {
  Impl& impl = *impl_;
  if (impl.GivenUp(options.cancel)) co_return CancelledBeforeStart();
  Task<Execution> task = options.in_turn ? impl.InTurnWithOthers(plan, allow, policy, options)
                                         : impl.InTurn(plan, allow, policy, options);
  Execution execution = co_await task;
  if (execution.busy) co_return execution;
  // The caller runs it in another way.
  const bool never_ran = HasNoOverlay(execution) || IsOutdated(execution);
  if (options.record != nullptr && !never_ran)
    options.record->commands.push_back(RecordOf(plan, execution));
  impl.Idle();
  co_return execution;
}

Task<Execution> Runner::Impl::InTurn(const CommandPlan& plan, const policy::Allow& allow,
                                     policy::PolicyPtr policy, const RunOptions& options) {
  const policy::Purpose purpose = allow.purpose();
  QueuePosition* place = options.record == nullptr ? nullptr : &options.record->queue;
  Turn turn(lanes.For(purpose), options.cancel, place);
  if (!turn.Enter(options.serialise_key, PlacesIn(purpose, policy->limits))) {
    co_return QueueIsFull();
  }
  Completion<bool>& my_turn = turn.granted();
  const bool granted = co_await my_turn;
  if (!granted) co_return CancelledBeforeStart();
  // What the probe tries would be the end of a worker that works alone.
  if (!trial.HasSeen(policy) && !worker::IsAlone(plan.action)) {
    Task<std::optional<Execution>> task = trial.Observe(plan, allow, policy, options.cancel);
    std::optional<Execution> refused = co_await task;
    if (refused) co_return *std::move(refused);
  }
  Task<Execution> task = InTurnWithOthers(plan, allow, policy, options);
  Execution execution = co_await task;
  co_return execution;
}

Task<Execution> Runner::Probe(policy::WorkingDirectory directory, policy::Allow allow,
                              policy::PolicyPtr policy) {
  Task<Execution> task = impl_->trial.Probe(directory, allow, policy, nullptr);
  Execution execution = co_await task;
  impl_->Idle();
  co_return execution;
}

SlotOr Runner::Impl::AcquireSlot(const CommandPlan& plan, const policy::Allow& allow,
                                 const policy::PolicyPtr& policy, bool namespaces) {
  if (!namespaces) {
    const std::uint64_t before = slots.made();
    SlotOr slot = slots.Acquire(allow.confinement());
    if (slots.made() != before) janitor.LookAtCommands();
    return slot;
  }
  return slots.Acquire(allow.confinement(), views.For(policy), plan.directory.path());
}

// What takes turns here takes them with other servers' commands, too, within the time that it has.
Task<Execution> Runner::Impl::InTurnWithOthers(const CommandPlan& plan, const policy::Allow& allow,
                                               policy::PolicyPtr policy,
                                               const RunOptions& options) {
  if (options.serialise_key.empty()) {
    Task<Execution> task = Guarded(plan, allow, policy, options);
    Execution execution = co_await task;
    co_return execution;
  }
  const auto limit = milliseconds(allow.limits().wall_time_ms);
  const auto deadline = std::chrono::steady_clock::now() + limit;
  bool late = false;
  RepositoryTurn turn;
  const Result<std::string> directory =
      FindStateDirectory(*policy, config.state_home, kRepositoriesDirectory);
  if (directory) {
    QueuePosition* place = options.record == nullptr ? nullptr : &options.record->queue;
    const InQueue waiting(place, [] { return std::size_t{1}; });
    Task<RepositoryTurn> task = AwaitRepository(loop, *directory, options.serialise_key, [&] {
      late = std::chrono::steady_clock::now() >= deadline;
      return late || GivenUp(options.cancel);
    });
    turn = co_await task;
  }
  Execution execution = CancelledBeforeStart();
  if (turn.granted) {
    const auto latest = limit + milliseconds(allow.limits().grace_ms);
    const auto give_up = [this] { return closing; };
    Task<bool> begin = BeginGit({loop, janitor, config.spawner}, turn, options.repository, latest,
                                [this, cancel = options.cancel] { return GivenUp(cancel); });
    [[maybe_unused]] const bool recorded = co_await begin;
    if (options.begins) {
      Task<bool> beginning = options.begins();
      [[maybe_unused]] const bool begun = co_await beginning;
    }
    Task<Execution> task = Guarded(plan, allow, policy, options);
    execution = co_await task;
    if (options.ended) {
      Task<bool> ending = options.ended(execution);
      [[maybe_unused]] const bool done = co_await ending;
    }
    Task<bool> end = EndGit({loop, janitor, config.spawner}, turn, execution, give_up);
    [[maybe_unused]] const bool cleared = co_await end;
  } else if (turn.used_up) {
    execution.outcome = Outcome::kSetupFailed;
    execution.failure = turn.used_up->Message();
    execution.failed_errno = turn.used_up->sys_errno;
  } else if (late) {
    execution.outcome = Outcome::kTimedOut;
    execution.time_limit = limit;
    execution.time_limit_is_policys = limit >= policy->limits.wall_time;
    execution.warning = "another server's git command held this repository during the whole wait";
  }
  co_return execution;
}

// From the command's turn, not from the call's: what is changed while it waits was not its doing.
// To the end of its tree, however it ended.
Task<Execution> Runner::Impl::Guarded(const CommandPlan& plan, const policy::Allow& allow,
                                      policy::PolicyPtr policy, const RunOptions& options) {
  const bool namespaces = trial.UsesNamespaces(allow);
  if (options.overlay && !namespaces && !options.can_do_without) {
    const Execution refused = NoOverlay(trial.no_namespaces());
    NoteOverlay(refused);
    co_return refused;
  }
  const std::optional<Writers::Writer> work = tree.Enter(plan);
  Task<ProtectedOr<TreeGuard::Found>> looking =
      tree.Look(plan, allow, policy, namespaces, options.cancel, GivenUp(options.cancel));
  ProtectedOr<TreeGuard::Found> found = co_await looking;
  if (GivenUp(options.cancel)) co_return CancelledBeforeStart();  // it may have taken a while
  if (!found) co_return FailedToProtect(found.error());
  if (auto refused = TreeGuard::Refusal(*found, plan, *policy, namespaces)) {
    co_return *std::move(refused);
  }
  std::vector<sandbox::Mount> mounts = TreeGuard::Mounts(*found, plan, allow, *policy, namespaces);
  if (options.overlay && namespaces) mounts.push_back(*options.overlay);
  const TreeGuard::Watching watching = tree.Start(*found);
  const auto started = FileClockNow();
  // From here on, because the search for protected paths reads it, too.
  std::optional<IndexUses::Watch> index;
  if (!options.watch_index.empty()) index.emplace(index_uses, options.watch_index);
  const auto execute = [&] {
    return WithinMemory(Execute(plan, allow, policy, options, namespaces, mounts),
                        [] { return FailedToStart(Error("run", "the command", ENOMEM)); });
  };
  Task<Execution> task = execute();
  Execution execution = co_await task;
  if (options.overlay) NoteOverlay(execution);
  if (options.can_do_without && HasNoOverlay(execution)) {
    mounts.pop_back();
    Task<Execution> again = execute();
    execution = co_await again;
  }
  execution.started = started;
  execution.read_index = index && index->WasRead();
  index.reset();
  const bool concerned = found->watch != nullptr || found->below;
  try {
    Task<bool> comparing = tree.Compare(std::move(*found), execution);
    [[maybe_unused]] const bool compared = co_await comparing;
  } catch (const std::bad_alloc&) {
    if (concerned) execution.protected_changes = NotCompared(plan.directory.path());
  }
  co_return execution;
}

Task<Execution> Runner::Impl::Try(const CommandPlan& plan, const policy::Allow& allow,
                                  policy::PolicyPtr policy, bool namespaces, CancelSource* cancel) {
  RunOptions options;
  options.cancel = cancel;
  options.capture = false;
  Task<Execution> task = Execute(plan, allow, policy, options, namespaces);
  Execution execution = co_await task;
  co_return execution;
}

void Runner::Impl::NoteOverlay(const Execution& execution) {
  using Granted = sandbox::KernelFeatures::Granted;
  const bool refused = HasNoOverlay(execution);
  if (!refused && execution.outcome == Outcome::kSetupFailed) return;
  overlay = refused ? Granted::kNo : Granted::kYes;
  no_overlay = refused ? execution.failure : "";
}

StartJanitor Runner::Impl::JanitorStart() {
  return [this](int socket) -> Result<pid_t> {
    if (config.spawner == nullptr) return StartOwnJanitor(config.janitor, socket);
    janitor.JanitorStarts();
    return config.spawner->Start(Helper::kJanitor, socket);
  };
}

StartLauncher Runner::Impl::LauncherStart() {
  if (config.spawner == nullptr) return StartBy(config.worker_path);
  return [this](bool with_view, int socket) {
    if (!with_view) janitor.LauncherStarts();
    return config.spawner->Start(with_view ? Helper::kViews : Helper::kWorkers, socket);
  };
}

// With the first command: a server that runs none stays small.
void Runner::Impl::Begin() {
  groups->Open();
  launchers.emplace(
      loop, LauncherStart(), [this] { orphans.Kill(context->is_worker); },
      groups->there() ? &*groups : nullptr, [this](pid_t pid) { exiting_workers->Add(pid); });
  buffer.resize(kReadBytes);
  context.emplace(
      loop, buffer, orphans, *exiting_workers, [this](pid_t pid) { return IsWorker(pid); },
      [this](bool by_force) { return launchers->AllKnown(by_force); });
}

// Whoever shuts down may look once more when the launchers and the exiting workers are gone.
bool Runner::Impl::IsWorker(pid_t pid) {
  if (launchers && launchers->Contains(pid)) return true;
  if (pid == janitor_process.pid()) return true;
  if (config.spawner != nullptr && pid == config.spawner->pid()) return true;
  if (exiting_workers && exiting_workers->Contains(pid)) return true;
  return std::ranges::any_of(active, [&](RunningCommand* one) { return one->pid() == pid; });
}

Task<Execution> Runner::Impl::Execute(const CommandPlan& plan, const policy::Allow& allow,
                                      policy::PolicyPtr policy, const RunOptions& options,
                                      bool namespaces, std::vector<sandbox::Mount> sealed) {
  if (allow.confinement().network == sandbox::Network::kLoopback && !namespaces) {
    co_return NoLoopback(trial.no_namespaces());
  }

  if (auto adopted = orphans.Adopt(); !adopted) co_return FailedToStart(adopted.error());
  if (!context) Begin();
  for (int attempt = 1;; ++attempt) {
    Task<Execution> task = ExecuteOnce(plan, allow, policy, options, namespaces, sealed);
    Execution execution = co_await task;
    const bool again = execution.never_began && attempt < kRunAttempts && !closing;
    if (!again) co_return execution;
  }
}

Task<Execution> Runner::Impl::ExecuteOnce(const CommandPlan& plan, const policy::Allow& allow,
                                          policy::PolicyPtr policy, const RunOptions& options,
                                          bool namespaces,
                                          const std::vector<sandbox::Mount>& sealed) {
  if (allow.limits().cpus != 0 && !groups->withholds_cpus()) {
    co_return NoCpuLimit(groups->why_not());
  }
  SlotOr slot = AcquireSlot(plan, allow, policy, namespaces);
  if (!slot) co_return WithoutSlot(slot.error());
  const Result<std::string> spec = worker::EncodeSpec(MakeSpec(plan, allow, slot->get(), sealed));
  if (!spec) {
    slots.Release(std::move(*slot), true);
    co_return WithoutOrder(spec.error());
  }
  Task<Result<SpawnedWorker>> spawning = Spawn(plan, allow, **slot, *spec, options.network);
  Result<SpawnedWorker> worker = co_await spawning;
  if (!worker) {
    slots.Release(std::move(*slot), true);
    if (closing) co_return CancelledBeforeStart();
    co_return FailedToStart(worker.error());
  }
  ahead.Start(kAskAheadAfter, [this] {
    if (launchers) launchers->AskAhead();
  });
  RunningCommand command(*context, std::move(*worker),
                         Capture(plan, allow, policy->limits, options));
  const bool own_network = namespaces && allow.confinement().network == sandbox::Network::kLoopback;
  if (options.record != nullptr && own_network) options.record->own_network = &command;
  const Finally forget([&] {
    if (options.record != nullptr) options.record->own_network = nullptr;
  });
  Task<Execution> task = Await(command, options.cancel);
  Execution execution = co_await task;
  if (command.network() != nullptr) command.network()->ended = true;
  for (const CommandNetwork& network : {command.network(), options.network}) {
    if (network != nullptr && network->ended && launchers) launchers->Retire(network);
  }
  execution.time_limit = milliseconds(allow.limits().wall_time_ms);
  execution.time_limit_is_policys = execution.time_limit >= policy->limits.wall_time;
  execution.namespaces = (*slot)->view.base != nullptr;
  slots.Release(std::move(*slot), command.tmp_clean());
  co_return execution;
}

Task<Result<SpawnedWorker>> Runner::Impl::Spawn(const CommandPlan& plan, const policy::Allow& allow,
                                                const Slot& slot, const std::string& spec,
                                                const CommandNetwork& network) {
  if (config.on_spec && plan.action != worker::Action::kProbe) {
    const Result<std::string> by_hand = worker::EncodeSpec(MakeSpec(plan, allow, nullptr));
    if (by_hand) config.on_spec(*by_hand);
  }
  SpawnOrder order = MakeOrder(plan, allow, slot);
  order.spec = spec;
  order.launch.join = network;
  Task<Result<SpawnedWorker>> task = SpawnWorker(*launchers, order);
  Result<SpawnedWorker> worker = co_await task;
  co_return std::move(worker);
}

RunningOptions Runner::Impl::Capture(const CommandPlan& plan, const policy::Allow& allow,
                                     const policy::Limits& limits, const RunOptions& options) {
  RunningOptions running;
  running.wall_time = milliseconds(allow.limits().wall_time_ms);
  running.grace = milliseconds(allow.limits().grace_ms);
  running.cpu_time = std::chrono::seconds(allow.limits().cpu_seconds);
  running.alone = worker::IsAlone(plan.action);
  running.sink = options.sink;
  running.delivery = options.delivery;
  if (!options.capture) return running;
  const std::string name = options.name.empty() ? DefaultName(plan) : options.name;
  const CaptureLimits capture{limits.output_inline, limits.output_total};
  running.out.emplace(store, capture, name + ": stdout");
  running.err.emplace(store, capture, name + ": stderr");
  return running;
}

Task<Execution> Runner::Impl::Await(RunningCommand& command, CancelSource* cancel) {
  const Result<void> started = command.Start();
  active.insert(&command);
  if (cancel != nullptr) cancel->OnCancel([&command] { command.Cancel(); });
  Completion<Execution>& done = command.done();
  Execution execution = co_await done;
  if (cancel != nullptr) cancel->Forget();
  active.erase(&command);
  if (!started) co_return FailedToStart(started.error());
  co_return execution;
}

void Runner::BeginShutdown() {
  if (std::exchange(impl_->shutting_down, true)) return;
  impl_->beginnings.RefuseAll();
  impl_->tree.GiveUpLooks();
  impl_->force.emplace(impl_->loop);
  impl_->force->Start(impl_->config.shutdown_grace, [impl = impl_.get()] {
    impl->Close();
    const std::set<RunningCommand*> running = impl->active;
    for (RunningCommand* command : running) {
      if (impl->active.contains(command)) command->HangUp();  // another one's end may be its own
    }
  });
}

void Runner::Shutdown(std::function<void()> done) {
  BeginShutdown();
  impl_->shutdown_done = std::move(done);
  impl_->Close();
  impl_->Idle();
}

void Runner::Impl::Close() {
  if (std::exchange(closing, true)) return;
  index_uses.Close();
  lanes.RefuseAll();
  trial.RefuseAll();
  if (launchers) launchers->Close();
  const std::set<RunningCommand*> running = active;
  for (RunningCommand* command : running) command->Cancel();
}

// Not at once but from the loop: `done` may end the Runner, and whoever calls this is still inside
// it.
void Runner::Impl::Idle() {
  if (!closing || !lanes.empty() || !shutdown_done) return;
  force.reset();
  idle.emplace(loop);
  idle->Start(milliseconds(0), [this] {
    tree.Close();
    launchers.reset();
    if (context) orphans.Kill(context->is_worker);
    slots.RemoveAll();
    last_cleaning = std::chrono::steady_clock::now() + kLastCleaning;
    Clean();
  });
}

// What a killed janitor had at work comes to us.
void Runner::Impl::Hunt() {
  hunt.Start(kLookAgain, [this] {
    if (context && orphans.Kill(context->is_worker)) Hunt();
  });
}

// Whoever ends us does not wait for long.
void Runner::Impl::Clean() {
  if (!remover->empty() && std::chrono::steady_clock::now() < last_cleaning) {
    return idle->Start(kLookAgain, [this] { Clean(); });
  }
  janitor_process.Close();
  // What it had at work dies with it, and comes to us.
  const bool late = std::chrono::steady_clock::now() >= last_cleaning + kLastCleaning;
  if (context && orphans.Kill(context->is_worker) && !late) {
    return idle->Start(kLookAgain, [this] { Clean(); });
  }
  remover.reset();
  exiting_workers.reset();
  groups.reset();
  std::exchange(shutdown_done, nullptr)();
}

void Runner::Discard(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  UniqueFd parent(open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!impl_->remover || !parent) return;
  impl_->remover->Add(
      {std::make_shared<const UniqueFd>(std::move(parent)), path.substr(slash + 1)});
}

bool Runner::OnceAnHour() {
  const auto now = std::chrono::steady_clock::now();
  if (impl_->last_hour && now - *impl_->last_hour < std::chrono::hours(1)) return false;
  impl_->last_hour = now;
  return true;
}

void Runner::Rest() { impl_->janitor.Rest(); }

void Runner::Follow(const policy::PolicyPtr& policy) {
  Impl& impl = *impl_;
  if (impl.config.spawner == nullptr) return;
  const auto renew = [&impl] {
    if (impl.launchers) impl.launchers->Renew();
  };
  impl.janitor.WhenRenewed(renew);
  impl.janitor.Follow(policy);
  impl.slots.Prepare([&impl, renew] {
    impl.janitor_process.Renew();
    renew();
  });
}

std::string Runner::Instance() { return impl_->slots.Instance(); }

std::string Runner::Cgroup() {
  if (!impl_->groups) return "";
  impl_->groups->Open();
  return impl_->groups->path();
}

void Runner::Renew() {
  impl_->slots.Renew();
  impl_->views = ViewCache();
  if (impl_->launchers) impl_->launchers->Renew();
}

uv_loop_t* Runner::loop() const { return impl_->loop; }
Janitor& Runner::janitor() { return impl_->janitor; }
Task<RepositoryFinder::Found> Runner::FindRepository(policy::PolicyPtr policy,
                                                     policy::WorkingDirectory directory) {
  Task<RepositoryFinder::Found> finding = impl_->repositories.Find(std::move(policy), directory);
  RepositoryFinder::Found found = co_await finding;
  if (found && *found) {
    Task<bool> covering = impl_->janitor.Cover(directory.path(), (*found)->grants);
    [[maybe_unused]] const bool covered = co_await covering;
  }
  co_return found;
}

// A copy: another call may ask for it while one waits.
Task<GitIdentity::Given> Runner::FindIdentity(policy::PolicyPtr policy) {
  GitIdentity& identity = impl_->git_identity;
  if (const GitIdentity::Given* known = identity.Known(*policy)) co_return *known;
  Spawner* const spawner = impl_->config.spawner;
  if (spawner == nullptr) {
    co_return identity.Take(*policy, FindGitIdentity(policy->home, policy->config_home));
  }
  Task<Result<std::string>> reading = spawner->ReadIdentity();
  const Result<std::string> packed = co_await reading;
  GitIdentityFound found;
  if (packed && Unpacker(*packed)(found)) co_return identity.Take(*policy, std::move(found));
  co_return GitIdentity::Given{
      .directory = "",
      .warning = "commits of the command lack the user's name: " +
                 (packed ? std::string("it cannot be read") : packed.error().Message())};
}

std::size_t Runner::running() const { return impl_->lanes.running(); }
std::size_t Runner::waiting() const { return impl_->lanes.waiting() + impl_->beginnings.waiting(); }

FileTurns& Runner::file_turns() { return impl_->file_turns; }
IndexUses& Runner::index_uses() { return impl_->index_uses; }

bool Runner::UsesNamespaces(const policy::Allow& allow) const {
  return impl_->trial.UsesNamespaces(allow);
}

Lanes& Runner::beginnings() { return impl_->beginnings; }

const std::string& Runner::state_home() const { return impl_->config.state_home; }

sandbox::KernelFeatures Runner::Kernel() const {
  using Granted = sandbox::KernelFeatures::Granted;
  sandbox::KernelFeatures kernel = impl_->trial.Kernel();
  if (impl_->groups && impl_->groups->there()) kernel.cgroup = Granted::kYes;
  kernel.cgroup_cpu = impl_->groups && impl_->groups->withholds_cpus();
  if (impl_->groups && !impl_->groups->why_not().empty()) {
    kernel.cgroup = Granted::kNo;
    kernel.no_cgroup = impl_->groups->why_not();
  }
  kernel.overlay = impl_->overlay;
  kernel.no_overlay = impl_->no_overlay;
  return kernel;
}

}  // namespace pa
