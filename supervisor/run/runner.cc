#include "supervisor/run/runner.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/file_clock.h"
#include "base/finally.h"
#include "policy/caches.h"
#include "policy/grants.h"
#include "policy/path.h"
#include "supervisor/guard/nested_repositories.h"
#include "supervisor/guard/protected_mounts.h"
#include "supervisor/guard/protected_paths_guard.h"
#include "supervisor/guard/writers.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/turn.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/loop/within_memory.h"
#include "supervisor/run/call_groups.h"
#include "supervisor/run/captured_output.h"
#include "supervisor/run/orphans.h"
#include "supervisor/run/repository_lock.h"
#include "supervisor/run/running_command.h"
#include "supervisor/run/slot_pool.h"
#include "supervisor/run/spawn_worker.h"
#include "supervisor/run/view_cache.h"
#include "supervisor/state/state_directory.h"
#include "supervisor/state/trash.h"
#include "worker/probe.h"

namespace pa {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kReadBytes = 256u << 10;
// Whoever kills workers that wait may kill the next one, too.
constexpr int kAttempts = 3;

Execution Failed(const Error& error) {
  Execution execution;
  execution.failure = error.Message();
  execution.failed_errno = error.sys_errno;
  return execution;
}

Execution Busy() {
  Execution execution;
  execution.busy = true;
  execution.failure = "the queue is full";
  return execution;
}

// A probe that did not come to its end has shown nothing.
Execution Unobserved(const Execution& probe) {
  Execution execution;
  execution.failed_step = worker::Step::kProbe;
  execution.failure =
      std::string("probe: nothing was tried, it ended as ") + OutcomeName(probe.outcome);
  return execution;
}

// Or one after which something was open.
Execution NotDenied(Execution probe) {
  if (probe.outcome != Outcome::kExited) return Unobserved(probe);
  const std::uint32_t open = probe.probe_tried & ~probe.probe_denied;
  probe.outcome = Outcome::kSetupFailed;
  probe.failed_step = worker::Step::kProbe;
  probe.failure = std::string("probe: the sandbox did not stop an attempt to ") +
                  worker::kProbeNames[std::countr_zero(open)];
  return probe;
}

// What was refused before there was a worker (NoLoopback, NoCpuLimit) is about that call alone.
bool ConcernsOthers(const Execution& failed) {
  return failed.failed_step == worker::Step::kProbe || failed.failed_errno != 0;
}

// What a system says that grants none (user_namespaces(7), unshare(2), AppArmor): ENOSPC and EUSERS where it allows none
// or no more of them. Want of memory or descriptors passes, and nobody shall bring it about to be confined less.
constexpr std::array kNotGranted = {EPERM,  EACCES, ENOSYS, EINVAL,    ENOSPC,
                                    EUSERS, ENOENT, ENODEV, EOPNOTSUPP};

// Only what was refused before there was an order says that namespaces are not to be had; a view that
// cannot be made for this order is its failure.
bool LacksNamespaces(const Execution& execution) {
  return execution.outcome == Outcome::kSetupFailed &&
         execution.failed_step == worker::Step::kNamespaces &&
         std::ranges::find(kNotGranted, execution.failed_errno) != kNotGranted.end();
}

// A loopback that is the host's would be no loopback of the command's own.
Execution NoLoopback(const std::string& why) {
  Execution execution;
  execution.failed_step = worker::Step::kNamespaces;
  execution.failure = "network: loopback needs namespaces, which are not granted here: " + why;
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

// Elsewhere the guard puts back what was changed; here that would be as bad as the change.
Execution LogIsOpen(const std::string& directory) {
  Execution execution;
  execution.failed_step = worker::Step::kMounts;
  execution.failure = "the audit log lies in " + directory +
                      ", where this command could write and no mount keeps it from that: set "
                      "audit.path to a file that lies elsewhere, or have namespaces granted";
  return execution;
}

bool CanWriteIn(const policy::WorkingDirectory& directory, const policy::Allow& allow) {
  const std::vector<std::string> trees = policy::WritableTrees(allow.confinement().paths);
  return std::ranges::find(trees, directory.path()) != trees.end();
}

// There may be more to mount than can be; then what git executes is put back instead.
bool AllFrozen(const ProtectedPathsGuard::Found& found, std::span<const SealedPath> sealed) {
  return std::ranges::all_of(found.paths, [&](const GuardedPath& guarded) {
    const policy::ProtectedPath& path = guarded.path;
    if (path.kind != policy::ProtectedPath::Kind::kFrozen) return true;
    return std::ranges::any_of(sealed, [&](const SealedPath& one) {
      return one.read_only && policy::IsBeneath(path.path, one.path);
    });
  });
}

// What must stay as it is, as it was found right before the command starts.
struct Guarding {
  NestedRepositories::Watch below = nullptr;
  ProtectedPathsGuard::Watch watch = nullptr;
  std::vector<SealedPath> sealed = {};
};

// A limit that is reached is said.
std::string WarningOf(const std::vector<std::string>& left_out) {
  if (left_out.empty()) return "";
  return fmt::format(
      "there are more projects here than the 64 in which files that other programs execute are "
      "protected: not in {}{}",
      left_out.front(),
      left_out.size() == 1 ? "" : fmt::format(" and {} more", left_out.size() - 1));
}

bool IsSealed(std::span<const SealedPath> sealed, const std::string& path) {
  return std::ranges::find(sealed, path, &SealedPath::path) != sealed.end();
}

// Those that the guard has found. Where a mount kept one, also all in it.
std::vector<policy::KeptDirectory> GitDirectories(const ProtectedPathsGuard::Watch& watch,
                                                  bool mounted) {
  std::vector<policy::KeptDirectory> found;
  if (watch == nullptr) return found;
  for (const GuardedPath& one : watch->found->paths) {
    const bool whole = mounted && one.path.kind == policy::ProtectedPath::Kind::kFrozen;
    if (one.path.repository) found.push_back({one.path.path, whole});
  }
  return found;
}

Execution NeverStarted() {
  Execution execution;
  execution.outcome = Outcome::kCancelled;
  return execution;
}

// `NAME=value` of each. Values that name the private /tmp, for programs that know only /tmp: where that is
// their own, they need not be told.
std::vector<std::string> Environment(const std::map<std::string, std::string>& env,
                                     const std::string& tmp) {
  constexpr std::array<std::string_view, 3> kNames = {"TEMP", "TMP", "TMPDIR"};
  const auto names_tmp = [&](const std::string& name) {
    return !tmp.empty() && std::ranges::find(kNames, name) != kNames.end();
  };
  std::vector<std::string> list;
  list.reserve(env.size() + kNames.size());
  for (const auto& [name, value] : env) {
    if (names_tmp(name)) continue;
    list.push_back(name + "=" + value);
    const std::size_t at = value.find(policy::kPrivateTmp);
    if (at == std::string::npos) continue;
    list.back().replace(name.size() + 1 + at, policy::kPrivateTmp.size(), tmp);
    if (tmp.empty() || tmp == "/tmp") list.pop_back();
  }
  if (tmp.empty()) return list;
  for (const std::string_view name : kNames) list.push_back(std::string(name) + "=" + tmp);
  return list;
}

// The one place where an order is made, from a plan and its permission. `slot` null: for reading by
// people.
worker::WorkerSpec MakeSpec(const CommandPlan& plan, const policy::Allow& allow, const Slot* slot,
                            const std::vector<sandbox::Mount>& sealed = {}) {
  const bool namespaces = slot != nullptr && slot->view.base != nullptr;
  worker::WorkerSpec spec;
  spec.action = plan.action;
  spec.executable = plan.executable;
  spec.argv = plan.argv;
  spec.tmp_dir = slot != nullptr ? slot->tmp_dir : "";
  spec.env = Environment(plan.env, namespaces ? slot->view.tmp_name : spec.tmp_dir);
  // Every mount of a view is a file system of its own to git, which would look for a repository no further
  // (git(1)).
  constexpr const char* kCross = "GIT_DISCOVERY_ACROSS_FILESYSTEM";
  if (namespaces && !plan.env.contains(kCross)) spec.env.push_back(std::string(kCross) + "=1");
  spec.working_directory = plan.directory.path();
  spec.file = plan.file;
  spec.network = allow.confinement().network;
  spec.limits = allow.limits();
  if (plan.umask) spec.umask = *plan.umask;
  // The launcher has it, unless it could not live with it; who reads the order, or runs it by hand, has
  // no launcher.
  const bool in_launcher = slot != nullptr && !worker::IsAlone(plan.action);
  if (!in_launcher && allow.seccomp()) spec.seccomp_program = *allow.seccomp();
  if (namespaces) {
    spec.seccomp_program = *allow.view_seccomp();
    spec.shm_dir = slot->view.shm_dir;
    spec.mounts = slot->view.mounts;
    spec.mounts.insert(spec.mounts.end(), sealed.begin(), sealed.end());
  }
  spec.has_ruleset_fd = slot != nullptr && slot->prepared.landlock_ruleset;
  // Without a ruleset the worker makes its own, or fails where the kernel has none.
  if (!spec.has_ruleset_fd) {
    spec.paths = slot != nullptr ? slot->prepared.confinement.paths : allow.confinement().paths;
  }
  return spec;
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

// What of `protected_paths` keeps the plan's file as it is, or null.
std::string FileOf(const CommandPlan& plan) { return plan.directory.path() + "/" + plan.file; }

const GuardedPath* Forbidding(const std::vector<GuardedPath>& protected_paths,
                              const CommandPlan& plan) {
  const std::string file = FileOf(plan);
  const auto found = std::ranges::find_if(protected_paths, [&](const GuardedPath& guarded) {
    return policy::Forbids(guarded.path, file);
  });
  return found == protected_paths.end() ? nullptr : &*found;
}

Execution Protected(const GuardedPath& guarded) {
  Execution execution;
  execution.protection = guarded.path.reason;
  if (guarded.path.host != nullptr) execution.protection += "; " + guarded.path.host->HowToGiveUp();
  execution.failure = "protected: " + guarded.path.reason;
  return execution;
}

// Where there is no memory to compare, nobody knows what has become of it.
std::vector<ProtectedChange> NotCompared(const std::string& path) {
  return {{.path = path, .what = "not compared", .failure = "there was not enough memory"}};
}

}  // namespace

struct Runner::Impl {
  Impl(uv_loop_t* uv_loop, RunnerConfig runner_config, ResultStore& result_store)
      : loop(uv_loop),
        config(std::move(runner_config)),
        store(result_store),
        groups(std::in_place, uv_loop),
        departures(std::in_place, uv_loop),
        trash(std::in_place, uv_loop),
        guard(uv_loop, config.state_home),
        nested(uv_loop, config.state_home),
        slots(config.tmp_base, [this](HeldTree tree, UniqueFd lock) {
          trash->Add(std::move(tree), std::move(lock));
        }) {}

  Task<Execution> Probe(const policy::WorkingDirectory& directory, const policy::Allow& allow,
                        policy::PolicyPtr policy, CancelSource* cancel);
  Task<Execution> ProbeOnce(const CommandPlan& plan, const policy::Allow& allow,
                            policy::PolicyPtr policy, bool namespaces, CancelSource* cancel);
  Task<std::optional<Execution>> Observe(const CommandPlan& plan, const policy::Allow& allow,
                                         policy::PolicyPtr policy, CancelSource* cancel);
  Task<Execution> InTurnWithOthers(const CommandPlan& plan, const policy::Allow& allow,
                                   policy::PolicyPtr policy, const RunOptions& options);
  Task<Execution> Guarded(const CommandPlan& plan, const policy::Allow& allow,
                          policy::PolicyPtr policy, const RunOptions& options);
  // `sealed`: what a command with namespaces cannot change although it lies in what it may write. `namespaces`: decided
  // once for a command, since a probe of another policy may change the answer meanwhile.
  Task<Execution> Execute(const CommandPlan& plan, const policy::Allow& allow,
                          policy::PolicyPtr policy, const RunOptions& options, bool namespaces,
                          std::vector<sandbox::Mount> sealed = {});
  Task<Execution> ExecuteOnce(const CommandPlan& plan, const policy::Allow& allow,
                              policy::PolicyPtr policy, const RunOptions& options, bool namespaces,
                              const std::vector<sandbox::Mount>& sealed);
  Task<Result<Guarding>> LookAround(const CommandPlan& plan, const policy::Allow& allow,
                                    policy::PolicyPtr policy, bool namespaces,
                                    CancelSource* cancel);
  Task<NestedRepositories::Watch> LookBelow(policy::WorkingDirectory directory,
                                            policy::PolicyPtr policy, CancelSource* cancel);
  Task<bool> LookAfter(Guarding found, Execution& execution);
  void WatchMounts();
  bool UsesNamespaces(const policy::Allow& allow) const;
  Result<std::unique_ptr<Slot>> AcquireSlot(const CommandPlan& plan, const policy::Allow& allow,
                                            const policy::PolicyPtr& policy, bool namespaces);
  Task<Result<SpawnedWorker>> Spawn(const CommandPlan& plan, const policy::Allow& allow,
                                    const Slot& slot, const std::vector<sandbox::Mount>& sealed);
  RunningOptions Capture(const CommandPlan& plan, const policy::Allow& allow,
                         const policy::Limits& limits, const RunOptions& options);
  Task<Execution> Await(RunningCommand& command, CancelSource* cancel);
  // Nobody waits for the command any more.
  bool GivenUp(const CancelSource* cancel) const {
    return closing || (cancel != nullptr && (shutting_down || cancel->cancelled()));
  }
  void Begin();
  bool IsWorker(pid_t pid);
  void Close();
  void Idle();

  uv_loop_t* loop;
  RunnerConfig config;
  ResultStore& store;
  std::optional<CallGroups> groups;  // this and the next three: until shutdown
  std::optional<Launchers> launchers;
  std::optional<Departures> departures;
  std::optional<Trash> trash;
  ProtectedPathsGuard guard;
  std::optional<PollHandle> saves;  // of its descriptor; until shutdown
  std::size_t watching = 0;         // commands that it looks after
  NestedRepositories nested;
  Writers writers;
  SlotPool slots;
  Lanes lanes;
  FileTurns file_turns;
  Lanes beginnings;
  policy::PolicyPtr probed;  // the policy whose confinement was seen to hold
  RunQueue probing;          // one at a time
  std::uint64_t probes = 0;  // that have begun
  struct FailedProbe {
    std::uint64_t number;
    std::weak_ptr<const policy::Policy> policy;
    Execution execution;
  };
  std::optional<FailedProbe> failed_probe;  // the last, if it says something of others
  ViewCache views;
  bool namespaces_seen = false;
  std::optional<sandbox::KernelFeatures> kernel;  // as it was found first: it stays what it is
  std::string no_namespaces;  // why there are none; "" as long as nobody was refused any
  Orphans orphans;
  std::vector<char> buffer;  // made at the first run: an idle supervisor is small
  std::set<RunningCommand*> active;
  std::optional<RunningContext> context;
  TimerHandle ahead{loop};
  std::optional<std::chrono::steady_clock::time_point> last_hour;  // OnceAnHour
  std::set<std::shared_ptr<std::atomic<bool>>> looks;  // below working directories, for commands
  bool shutting_down = false;                          // no call begins
  bool closing = false;                                // nothing does
  std::function<void()> shutdown_done;
  std::optional<TimerHandle> force;
  std::optional<TimerHandle> idle;
};

Runner::Runner(uv_loop_t* loop, RunnerConfig config, ResultStore& store)
    : impl_(std::make_unique<Impl>(loop, std::move(config), store)) {}

Runner::~Runner() = default;

Task<Execution> Runner::Run(CommandPlan plan, policy::Allow allow, policy::PolicyPtr policy,
                            RunOptions options) {
  Impl& impl = *impl_;
  if (impl.GivenUp(options.cancel)) co_return NeverStarted();
  Execution execution;
  {
    const policy::Purpose purpose = allow.purpose();
    QueuePlace* place = options.record == nullptr ? nullptr : &options.record->queue;
    Turn turn(impl.lanes.For(purpose), options.cancel, place);
    if (!turn.Enter(options.serialise_key, PlacesIn(purpose, policy->limits))) co_return Busy();
    Completion<bool>& my_turn = turn.granted();
    const bool granted = co_await my_turn;
    std::optional<Execution> refused;
    // What the probe tries would be the end of a worker that works alone.
    if (granted && impl.probed != policy && !worker::IsAlone(plan.action)) {
      Task<std::optional<Execution>> task = impl.Observe(plan, allow, policy, options.cancel);
      refused = co_await task;
    }
    if (!granted) {
      execution = NeverStarted();
    } else if (refused) {
      execution = std::move(*refused);
    } else {
      Task<Execution> task = impl.InTurnWithOthers(plan, allow, policy, options);
      execution = co_await task;
    }
  }
  if (options.record != nullptr) options.record->commands.push_back(RecordOf(plan, execution));
  impl.Idle();
  co_return execution;
}

Task<Execution> Runner::Probe(policy::WorkingDirectory directory, policy::Allow allow,
                              policy::PolicyPtr policy) {
  Task<Execution> task = impl_->Probe(directory, allow, policy, nullptr);
  Execution execution = co_await task;
  impl_->Idle();
  co_return execution;
}

Task<Execution> Runner::Impl::Probe(const policy::WorkingDirectory& directory,
                                    const policy::Allow& allow, policy::PolicyPtr policy,
                                    CancelSource* cancel) {
  const Result<std::string> canary = slots.Canary(allow.confinement());
  if (!canary) co_return Failed(canary.error());
  CommandPlan plan{.action = worker::Action::kProbe,
                   .executable = "",
                   .argv = {},
                   .env = {},
                   .directory = directory,
                   .stdin_data = std::nullopt,
                   .file = *canary};
  Execution nothing_to_try;
  nothing_to_try.outcome = Outcome::kExited;
  if (canary->empty()) co_return nothing_to_try;
  // What was refused to the policy before may be granted now; until that is seen, it is not.
  const bool namespaces = allow.confinement().namespaces != sandbox::Namespaces::kOff;
  Task<Execution> task = ProbeOnce(plan, allow, policy, namespaces, cancel);
  Execution execution = co_await task;
  namespaces_seen = namespaces && execution.outcome == Outcome::kExited;
  if (namespaces_seen) no_namespaces.clear();
  if (LacksNamespaces(execution)) {
    no_namespaces = execution.failure;
    if (allow.confinement().namespaces != sandbox::Namespaces::kAuto) co_return execution;
    LogWarning("namespaces are not granted here (" + no_namespaces +
               "): commands run with Landlock, seccomp and limits alone; `project-actions doctor` "
               "says what that means");
    Task<Execution> again = ProbeOnce(plan, allow, policy, false, cancel);
    execution = co_await again;
  }
  co_return execution;
}

Task<Execution> Runner::Impl::ProbeOnce(const CommandPlan& plan, const policy::Allow& allow,
                                        policy::PolicyPtr policy, bool namespaces,
                                        CancelSource* cancel) {
  RunOptions options;
  options.cancel = cancel;
  options.capture = false;
  Task<Execution> task = Execute(plan, allow, policy, options, namespaces);
  Execution execution = co_await task;
  const bool tried = execution.outcome != Outcome::kExited || execution.probe_tried != 0;
  if (!tried) co_return Unobserved(execution);
  co_return execution;
}

// What stands in the way of the first command of this policy; nothing if all was denied. Who comes meanwhile awaits that,
// and shares it: each may take as long as a launcher that does not answer. Who comes later tries again.
Task<std::optional<Execution>> Runner::Impl::Observe(const CommandPlan& plan,
                                                     const policy::Allow& allow,
                                                     policy::PolicyPtr policy,
                                                     CancelSource* cancel) {
  const std::uint64_t awaited = probing.empty() ? probes + 1 : probes;
  Turn turn(probing, cancel, nullptr);
  if (!turn.Enter("", {.concurrent = 1, .waiting = UINT64_MAX})) co_return Busy();
  Completion<bool>& my_turn = turn.granted();
  const bool granted = co_await my_turn;
  if (!granted) co_return NeverStarted();
  if (probed == policy) co_return std::nullopt;
  const bool shares = failed_probe && failed_probe->number >= awaited;
  if (shares && failed_probe->policy.lock() == policy) co_return failed_probe->execution;
  const std::uint64_t number = ++probes;
  Task<Execution> task = Probe(plan.directory, allow, policy, cancel);
  Execution execution = co_await task;
  const bool ended = execution.outcome == Outcome::kExited;
  if (!ended && GivenUp(cancel)) co_return NeverStarted();
  // Where there was nothing to try nothing was learnt: the next one may have something.
  if (ended && execution.probe_tried == 0) co_return std::nullopt;
  if (ended && (execution.probe_tried & ~execution.probe_denied) == 0) {
    probed = std::move(policy);
    co_return std::nullopt;
  }
  if (execution.outcome != Outcome::kSetupFailed) execution = NotDenied(std::move(execution));
  if (ConcernsOthers(execution)) failed_probe = {number, policy, execution};
  co_return execution;
}

bool Runner::Impl::UsesNamespaces(const policy::Allow& allow) const {
  const sandbox::Namespaces wanted = allow.confinement().namespaces;
  return wanted == sandbox::Namespaces::kRequire ||
         (wanted == sandbox::Namespaces::kAuto && no_namespaces.empty());
}

Result<std::unique_ptr<Slot>> Runner::Impl::AcquireSlot(const CommandPlan& plan,
                                                        const policy::Allow& allow,
                                                        const policy::PolicyPtr& policy,
                                                        bool namespaces) {
  if (!namespaces) return slots.Acquire(allow.confinement());
  return slots.Acquire(allow.confinement(), views.For(policy), plan.directory.path());
}

// What the user saves while commands run is looked at right away, before one of them can change it.
void Runner::Impl::WatchMounts() {
  ++watching;
  if (!saves && guard.fd() >= 0) {
    Result<PollHandle> poll = PollHandle::Create(loop, guard.fd(), [this] { guard.Look(); });
    if (poll) saves.emplace(std::move(*poll));
  }
  if (saves) saves->Start();
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
    QueuePlace* place = options.record == nullptr ? nullptr : &options.record->queue;
    const InQueue waiting(place, [] { return std::size_t{1}; });
    Task<RepositoryTurn> task = AwaitRepository(loop, *directory, options.serialise_key, [&] {
      late = std::chrono::steady_clock::now() >= deadline;
      return late || GivenUp(options.cancel);
    });
    turn = co_await task;
  }
  Execution execution = NeverStarted();
  if (turn.granted) {
    const auto latest = limit + milliseconds(allow.limits().grace_ms);
    const auto give_up = [this] { return closing; };
    Task<bool> begin = BeginGit(loop, turn, options.repository, latest,
                                [this, cancel = options.cancel] { return GivenUp(cancel); });
    [[maybe_unused]] const bool recorded = co_await begin;
    Task<Execution> task = Guarded(plan, allow, policy, options);
    execution = co_await task;
    Task<bool> end = EndGit(loop, turn, execution, give_up);
    [[maybe_unused]] const bool cleared = co_await end;
  } else if (turn.used_up) {
    execution.outcome = Outcome::kSetupFailed;
    execution.failure = turn.used_up->Message();
    execution.failed_errno = turn.used_up->sys_errno;
  } else if (late) {
    execution.outcome = Outcome::kTimedOut;
    execution.time_limit = limit;
    execution.time_limit_is_policys = limit >= policy->limits.wall_time;
    execution.warning = "another server's git command ran in this repository all the time";
  }
  co_return execution;
}

// Nobody waits for it when nobody waits for the command.
Task<NestedRepositories::Watch> Runner::Impl::LookBelow(policy::WorkingDirectory directory,
                                                        policy::PolicyPtr policy,
                                                        CancelSource* cancel) {
  const auto given_up = std::make_shared<std::atomic<bool>>(GivenUp(cancel));
  looks.insert(given_up);
  if (cancel != nullptr) cancel->OnCancel([given_up] { *given_up = true; });
  const Finally done([&] {
    if (cancel != nullptr) cancel->Forget();
    looks.erase(given_up);
  });
  Task<NestedRepositories::Watch> look = nested.Begin(directory, policy, given_up);
  NestedRepositories::Watch watch = co_await look;
  co_return watch;
}

// What the command must leave as it is. If not everything that git executes can be mounted, a second search says what
// is put back instead. A worker that writes a file executes nothing, so it needs no search of the tree: the
// repositories on the way to that file decide.
Task<Result<Guarding>> Runner::Impl::LookAround(const CommandPlan& plan, const policy::Allow& allow,
                                                policy::PolicyPtr policy, bool namespaces,
                                                CancelSource* cancel) {
  Guarding found;
  const bool executes = plan.action == worker::Action::kExecute;
  const bool mounts = executes && namespaces;
  const auto company = nested.Gather();
  GuardAround around{.runs = executes};
  if (executes && CanWriteIn(plan.directory, allow)) {
    Task<NestedRepositories::Watch> below = LookBelow(plan.directory, policy, cancel);
    found.below = co_await below;
    if (!found.below) co_return std::unexpected(Error("look", plan.directory.path(), ECANCELED));
    around.below = found.below->existing;
    around.open = [this, company, self = found.below, policy](const std::string& path) {
      return nested.MakerOf(path, *company, self, *policy).has_value();
    };
  } else if (!executes) {
    around.below = policy::RepositoriesAround(plan.directory.path(), FileOf(plan));
  }
  for (const bool frozen : {mounts, false}) {
    around.mounts = frozen;
    Task<Result<ProtectedPathsGuard::Watch>> task =
        guard.Begin(plan.directory, allow, policy, around);
    Result<ProtectedPathsGuard::Watch> watch = co_await task;
    if (!watch) co_return std::unexpected(watch.error());
    found.watch = std::move(*watch);
    if (found.watch != nullptr && mounts) found.sealed = SealedPaths(*found.watch->found);
    if (!frozen || found.watch == nullptr || AllFrozen(*found.watch->found, found.sealed)) break;
  }
  if (found.below && found.watch) {
    nested.LeaveOpen(found.below, *company, found.watch->found->open);
  }
  co_return found;
}

// When the command's tree is dead. What the guard brings back is there before what is new below is judged.
Task<bool> Runner::Impl::LookAfter(Guarding found, Execution& execution) {
  if (found.watch != nullptr || found.below) {
    Task<bool> settling = writers.Settled();
    [[maybe_unused]] const bool settled = co_await settling;
  }
  // Without a view of its own it had none of the mounts.
  if (!execution.namespaces) guard.Mounted(found.watch, {});
  Task<std::vector<ProtectedChange>> ending = WithinMemory(
      guard.End(found.watch), [&] { return NotCompared(found.watch->found->key.directory); });
  execution.protected_changes = co_await ending;
  if (execution.namespaces) execution.sealed = std::move(found.sealed);
  if (found.watch != nullptr) execution.Warn(WarningOf(found.watch->found->left_out));
  if (!found.below) co_return true;
  Task<NestedRepositories::Ended> looking = WithinMemory(
      nested.End(found.below, GitDirectories(found.watch, execution.namespaces)),
      [&] { return NestedRepositories::Ended{.changes = NotCompared("repositories below")}; });
  NestedRepositories::Ended ended = co_await looking;
  for (const ProtectedChange& change : ended.changes) {
    if (!change.restored) guard.MustGo(found.watch, change.path);
  }
  std::ranges::move(ended.changes, std::back_inserter(execution.protected_changes));
  execution.Warn(ended.warning);
  co_return true;
}

// From the command's turn, not from the call's: what is changed while it waits was not its doing. To
// the end of its tree, however it ended.
Task<Execution> Runner::Impl::Guarded(const CommandPlan& plan, const policy::Allow& allow,
                                      policy::PolicyPtr policy, const RunOptions& options) {
  const bool executes = plan.action == worker::Action::kExecute;
  const bool writes =
      plan.action == worker::Action::kWriteFile || plan.action == worker::Action::kDeleteFile;
  const bool namespaces = UsesNamespaces(allow);
  std::optional<Writers::Work> work;
  if (writes) work.emplace(writers);
  Guarding guarding;
  if (executes || writes) {
    Task<Result<Guarding>> looking = LookAround(plan, allow, policy, namespaces, options.cancel);
    Result<Guarding> found = co_await looking;
    if (GivenUp(options.cancel)) co_return NeverStarted();  // it may have taken a while
    if (!found) co_return Failed(found.error());
    guarding = std::move(*found);
  }
  if (!executes && guarding.watch != nullptr) {
    // It writes that one file. If a command moves it meanwhile, what becomes of it counts as that command's (Writers).
    const auto kept = std::exchange(guarding.watch, nullptr);
    if (const GuardedPath* one = Forbidding(kept->found->paths, plan)) co_return Protected(*one);
  }
  const std::string log = guarding.watch == nullptr ? "" : guarding.watch->found->audit_directory;
  if (!log.empty() && !IsSealed(guarding.sealed, log)) co_return LogIsOpen(log);
  std::vector<sandbox::Mount> mounts = MountsOf(guarding.sealed);
  if (executes && namespaces) {
    // Whoever can open the log can hold its lock, and read what others did.
    if (policy::ReachLog(allow.confinement().paths, *policy)) {
      mounts.push_back({sandbox::MountKind::kTmpfs, "", policy->audit.Directory()});
    }
  }
  const bool watched = guarding.watch != nullptr;
  guard.Mounted(guarding.watch, guarding.sealed);
  if (watched) WatchMounts();
  const auto started = FileClockNow();
  Task<Execution> task =
      WithinMemory(Execute(plan, allow, policy, options, namespaces, std::move(mounts)),
                   [] { return Failed(Error("run", "the command", ENOMEM)); });
  Execution execution = co_await task;
  execution.started = started;
  const bool concerned = watched || guarding.below;
  try {
    Task<bool> looking = LookAfter(std::move(guarding), execution);
    [[maybe_unused]] const bool looked = co_await looking;
  } catch (const std::bad_alloc&) {
    if (concerned) execution.protected_changes = NotCompared(plan.directory.path());
  }
  if (watched && --watching == 0 && saves) saves->Stop();
  co_return execution;
}

// With the first command: whoever runs none stays small, and where he is.
void Runner::Impl::Begin() {
  groups->Open();
  launchers.emplace(
      loop, config.worker_path, [this] { orphans.Kill(context->is_worker); },
      groups->there() ? &*groups : nullptr, [this](pid_t pid) { departures->Add(pid); });
  buffer.resize(kReadBytes);
  context.emplace(
      loop, buffer, orphans, *departures, [this](pid_t pid) { return IsWorker(pid); },
      [this](bool by_force) { return launchers->AllKnown(by_force); });
}

// Whoever shuts down may look once more when the launchers and the departures are gone.
bool Runner::Impl::IsWorker(pid_t pid) {
  if (launchers && launchers->Contains(pid)) return true;
  if (departures && departures->Contains(pid)) return true;
  return std::ranges::any_of(active, [&](RunningCommand* one) { return one->pid() == pid; });
}

Task<Execution> Runner::Impl::Execute(const CommandPlan& plan, const policy::Allow& allow,
                                      policy::PolicyPtr policy, const RunOptions& options,
                                      bool namespaces, std::vector<sandbox::Mount> sealed) {
  if (allow.confinement().network == sandbox::Network::kLoopback && !namespaces) {
    co_return NoLoopback(no_namespaces);
  }

  if (auto adopted = orphans.Adopt(); !adopted) co_return Failed(adopted.error());
  if (!context) Begin();
  for (int attempt = 1;; ++attempt) {
    Task<Execution> task = ExecuteOnce(plan, allow, policy, options, namespaces, sealed);
    Execution execution = co_await task;
    const bool again = execution.never_began && attempt < kAttempts && !closing;
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
  Result<std::unique_ptr<Slot>> slot = AcquireSlot(plan, allow, policy, namespaces);
  if (!slot) co_return Failed(slot.error());
  Task<Result<SpawnedWorker>> spawning = Spawn(plan, allow, **slot, sealed);
  Result<SpawnedWorker> worker = co_await spawning;
  if (!worker) {
    slots.Release(std::move(*slot), true);
    if (closing) co_return NeverStarted();
    co_return Failed(worker.error());
  }
  ahead.Start(kAskAheadAfter, [this] {
    if (launchers) launchers->AskAhead();
  });
  RunningCommand command(*context, std::move(*worker),
                         Capture(plan, allow, policy->limits, options));
  Task<Execution> task = Await(command, options.cancel);
  Execution execution = co_await task;
  execution.time_limit = milliseconds(allow.limits().wall_time_ms);
  execution.time_limit_is_policys = execution.time_limit >= policy->limits.wall_time;
  execution.namespaces = (*slot)->view.base != nullptr;
  slots.Release(std::move(*slot), command.tmp_clean());
  co_return execution;
}

Task<Result<SpawnedWorker>> Runner::Impl::Spawn(const CommandPlan& plan, const policy::Allow& allow,
                                                const Slot& slot,
                                                const std::vector<sandbox::Mount>& sealed) {
  const Result<std::string> spec = worker::EncodeSpec(MakeSpec(plan, allow, &slot, sealed));
  if (!spec) co_return std::unexpected(spec.error());
  if (config.on_spec && plan.action != worker::Action::kProbe) {
    const Result<std::string> by_hand = worker::EncodeSpec(MakeSpec(plan, allow, nullptr));
    if (by_hand) config.on_spec(*by_hand);
  }
  SpawnOrder order;
  if (slot.view.base != nullptr) {
    order.launch.view = slot.view.base;
    order.launch.network = allow.confinement().network;
  } else if (worker::IsAlone(plan.action)) {
    order.launch.alone = true;
  } else {
    order.launch.program = allow.seccomp();
  }
  order.spec = *spec;
  order.cwd = plan.directory.fd();
  order.ruleset = slot.prepared.landlock_ruleset.get();
  if (plan.stdin_data) order.stdin_data = *plan.stdin_data;
  order.limits = allow.limits();
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
  if (!started) co_return Failed(started.error());
  co_return execution;
}

void Runner::BeginShutdown() {
  if (std::exchange(impl_->shutting_down, true)) return;
  impl_->beginnings.RefuseAll();
  for (const auto& given_up : impl_->looks) *given_up = true;
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
  lanes.RefuseAll();
  probing.RefuseAll();
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
    saves.reset();
    trash.reset();
    launchers.reset();
    if (context) orphans.Kill(context->is_worker);
    departures.reset();
    groups.reset();
    slots.RemoveAll();
    std::exchange(shutdown_done, nullptr)();
  });
}

void Runner::Discard(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  UniqueFd parent(open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!impl_->trash || !parent) return;
  impl_->trash->Add({std::make_shared<const UniqueFd>(std::move(parent)), path.substr(slash + 1)});
}

bool Runner::OnceAnHour() {
  const auto now = std::chrono::steady_clock::now();
  if (impl_->last_hour && now - *impl_->last_hour < std::chrono::hours(1)) return false;
  impl_->last_hour = now;
  return true;
}

void Runner::Renew() {
  impl_->slots.Renew();
  impl_->views = ViewCache();
  if (impl_->launchers) impl_->launchers->Renew();
}

uv_loop_t* Runner::loop() const { return impl_->loop; }

std::size_t Runner::running() const { return impl_->lanes.running(); }

FileTurns& Runner::file_turns() { return impl_->file_turns; }

Lanes& Runner::beginnings() { return impl_->beginnings; }

const std::string& Runner::state_home() const { return impl_->config.state_home; }

sandbox::KernelFeatures Runner::Kernel() const {
  using Granted = sandbox::KernelFeatures::Granted;
  if (!impl_->kernel) impl_->kernel = sandbox::ProbeKernel();
  sandbox::KernelFeatures kernel = *impl_->kernel;
  if (impl_->namespaces_seen) kernel.namespaces = Granted::kYes;
  if (!impl_->no_namespaces.empty()) kernel.namespaces = Granted::kNo;
  kernel.no_namespaces = impl_->no_namespaces;
  if (impl_->groups && impl_->groups->there()) kernel.cgroup = Granted::kYes;
  kernel.cgroup_cpu = impl_->groups && impl_->groups->withholds_cpus();
  if (impl_->groups && !impl_->groups->why_not().empty()) {
    kernel.cgroup = Granted::kNo;
    kernel.no_cgroup = impl_->groups->why_not();
  }
  return kernel;
}

}  // namespace pa
