#include "supervisor/run/tree_guard.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <span>
#include <utility>

#include "base/finally.h"
#include "base/path_stamp.h"
#include "policy/grants.h"
#include "policy/path.h"
#include "supervisor/loop/within_memory.h"

namespace pa {
namespace {

bool Writes(const CommandPlan& plan) {
  return plan.action == worker::Action::kWriteFile || plan.action == worker::Action::kDeleteFile;
}

bool CanWriteIn(const policy::WorkingDirectory& directory, const policy::Allow& allow) {
  const std::vector<std::string> trees = policy::WritableTrees(allow.confinement().paths);
  return std::ranges::find(trees, directory.path()) != trees.end();
}

// There may be more to mount than can be. The first git directory that should be a mount and is
// none, or null.
const GuardedPath* NotMounted(const ProtectedPathsGuard::Found& found,
                              std::span<const SealedPath> sealed) {
  const auto left_out = std::ranges::find_if(found.paths, [&](const GuardedPath& guarded) {
    const policy::ProtectedPath& path = guarded.path;
    return policy::IsWhole(path.kind) && std::ranges::none_of(sealed, [&](const SealedPath& one) {
             return one.read_only && policy::IsBeneath(path.path, one.path);
           });
  });
  return left_out == found.paths.end() ? nullptr : &*left_out;
}

policy::ProtectionFailure CannotBeReadOnly(const GuardedPath& guarded) {
  return Error("protected paths",
               guarded.path.path +
                   " cannot be read-only to this command as git.commands asks: there are too many "
                   "git directories here; work in a directory with fewer, or write git: {commands: "
                   "write}");
}

// A limit that is reached is said.
std::string WarningOf(const std::vector<std::string>& left_out) {
  if (left_out.empty()) return "";
  return fmt::format(
      "there are more projects here than the 64 in which files that other programs execute are "
      "protected: not in {}{}",
      left_out.front(),
      left_out.size() == 1 ? "" : fmt::format(" and {} more", left_out.size() - 1));
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

// A socket is out of reach without a mount, too: before Linux 7.1 such commands make none, and
// since then Landlock asks.
Execution NotCovered(const policy::CoveredPath& covered) {
  Execution execution;
  execution.failed_step = worker::Step::kMounts;
  execution.failure =
      covered.title + " lie in " + covered.path +
      ", which this command could read, because no mount keeps it from that: take "
      "the grant that holds them out of filesystem.read, or have namespaces granted";
  return execution;
}

// Made since the policy was loaded, which it would not be now.
Execution MadeMeanwhile(const policy::CoveredPath& covered) {
  Execution execution;
  execution.failed_step = worker::Step::kMounts;
  execution.failure = covered.title + " lie in " + covered.path +
                      ", where commands could write: start the server with roots that do not hold "
                      "it";
  return execution;
}

// What has to be covered so that `path` is: it, or the directory on the way that this user may not
// search, as that of a socket which systemd has opened for another user.
struct Cover {
  std::string path;
  PathStamp there;
};
Cover CoverFor(std::string path) {
  PathStamp there = LookAt(path);
  while (there.error == EACCES && path != "/") {
    path = std::filesystem::path(path).parent_path();
    there = LookAt(path);
  }
  return {std::move(path), there};
}

// A command has the rights of this user, and cannot give itself others in another's directory.
bool IsClosedByAnother(const std::string& path) {
  const Cover cover = CoverFor(path);
  return cover.path != path && cover.there.IsDirectory() && cover.there.owner != geteuid();
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
    const bool whole = mounted && policy::IsWhole(one.path.kind);
    if (one.path.repository) found.push_back({one.path.path, whole});
  }
  return found;
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
  if (guarded.path.host != nullptr)
    execution.protection += "; " + guarded.path.host->HowToUnprotect();
  execution.failure = "protected: " + guarded.path.reason;
  return execution;
}

}  // namespace

std::vector<ProtectedChange> NotCompared(const std::string& path) {
  return {
      {.path = path, .kind = ChangeKind::kNotCompared, .failure = "there was not enough memory"}};
}

TreeGuard::TreeGuard(uv_loop_t* loop, Janitor& janitor, const std::string& state_home)
    : loop_(loop), guard_(loop, janitor, state_home), nested_(loop, janitor, state_home) {}

std::optional<Writers::Writer> TreeGuard::Enter(const CommandPlan& plan) {
  using Beginning = std::optional<Writers::Writer>;
  return Writes(plan) ? Beginning(std::in_place, writers_) : Beginning();
}

// Nobody waits for it when nobody waits for the command.
Task<Result<NestedRepositories::Watch>> TreeGuard::LookBelow(policy::WorkingDirectory directory,
                                                             policy::PolicyPtr policy,
                                                             CancelSource* cancel,
                                                             bool given_up_before) {
  const auto given_up = std::make_shared<GiveUp>();
  if (given_up_before) given_up->Set();
  looks_.insert(given_up);
  if (cancel != nullptr) cancel->OnCancel([given_up] { given_up->Set(); });
  const Finally done([&] {
    if (cancel != nullptr) cancel->Forget();
    looks_.erase(given_up);
  });
  Task<Result<NestedRepositories::Watch>> look = nested_.Begin(directory, policy, given_up);
  Result<NestedRepositories::Watch> watch = co_await look;
  co_return watch;
}

// What the command must leave as it is. If not everything that git executes can be mounted, a
// second search says what is put back instead. A worker that writes a file executes nothing, so it
// needs no search of the tree: the repositories on the way to that file decide.
Task<ProtectedOr<TreeGuard::Found>> TreeGuard::Look(const CommandPlan& plan,
                                                    const policy::Allow& allow,
                                                    policy::PolicyPtr policy, bool namespaces,
                                                    CancelSource* cancel, bool given_up) {
  Found found;
  const bool executes = plan.action == worker::Action::kExecute;
  if (!executes && !Writes(plan)) co_return found;
  const bool mounts = executes && namespaces;
  const auto company = nested_.Gather();
  GuardAround around{.git_read_only = mounts && !allow.writes_git(), .runs = executes};
  if (executes && CanWriteIn(plan.directory, allow)) {
    Task<Result<NestedRepositories::Watch>> looking =
        LookBelow(plan.directory, policy, cancel, given_up);
    Result<NestedRepositories::Watch> below = co_await looking;
    if (!below) co_return std::unexpected(WithoutJanitor(below.error()));
    found.below = std::move(*below);
    around.below = found.below->existing;
    around.open = [this, company, self = found.below, policy](const std::string& path) {
      return nested_.MakerOf(path, *company, self, *policy).has_value();
    };
  } else if (!executes) {
    around.below = policy::RepositoriesAround(plan.directory.path(), FileOf(plan));
  }
  for (const bool frozen : {mounts, false}) {
    around.mounts = frozen;
    Task<ProtectedOr<ProtectedPathsGuard::Watch>> task =
        guard_.Begin(plan.directory, allow, policy, around);
    ProtectedOr<ProtectedPathsGuard::Watch> watch = co_await task;
    if (!watch) co_return std::unexpected(watch.error());
    found.watch = std::move(*watch);
    if (found.watch != nullptr && mounts) found.sealed = SealedPaths(*found.watch->found);
    if (!frozen || found.watch == nullptr) break;
    // What git executes in repositories below is put back then.
    if (NotMounted(*found.watch->found, found.sealed) == nullptr) break;
  }
  if (found.watch != nullptr && mounts) {
    const GuardedPath* const open = NotMounted(*found.watch->found, found.sealed);
    if (open != nullptr) co_return std::unexpected(CannotBeReadOnly(*open));
  }
  if (found.below && found.watch) {
    nested_.LeaveOpen(found.below, *company, found.watch->found->open);
  }
  co_return found;
}

std::optional<Execution> TreeGuard::Refusal(Found& found, const CommandPlan& plan,
                                            const policy::Policy& policy, bool namespaces) {
  if (plan.action != worker::Action::kExecute && found.watch != nullptr) {
    // It writes that one file. If a command moves it meanwhile, what becomes of it counts as that
    // command's (Writers).
    const auto kept = std::exchange(found.watch, nullptr);
    if (const GuardedPath* one = Forbidding(kept->found->paths, plan)) return Protected(*one);
  }
  const std::string log = found.watch == nullptr ? "" : found.watch->found->audit_directory;
  if (!log.empty() && !IsSealed(found.sealed, log)) return LogIsOpen(log);
  for (const policy::CoveredPath& one : policy.covered) {
    if (!one.granted && !one.writable) continue;
    // A path that cannot be looked at may be there.
    const PathStamp there = LookAt(one.path);
    if (there.IsAbsent()) continue;
    if (one.writable) return MadeMeanwhile(one);
    const bool executes = plan.action == worker::Action::kExecute;
    const bool reached = !S_ISSOCK(there.mode) && !IsClosedByAnother(one.path);
    if (executes && !namespaces && reached) return NotCovered(one);
  }
  return std::nullopt;
}

std::vector<sandbox::Mount> TreeGuard::Mounts(const Found& found, const CommandPlan& plan,
                                              const policy::Allow& allow,
                                              const policy::Policy& policy, bool namespaces) {
  std::vector<sandbox::Mount> mounts = MountsOf(found.sealed);
  const bool executes = plan.action == worker::Action::kExecute;
  // Whoever can open the log can hold its lock, and read what others did.
  if (executes && namespaces && policy::ReachLog(allow.confinement().paths, policy)) {
    mounts.push_back({sandbox::MountKind::kTmpfs, "", policy.audit.Directory()});
  }
  if (!executes || !namespaces) return mounts;
  for (const policy::CoveredPath& one : policy.covered) {
    if (!one.granted) continue;
    Cover cover = CoverFor(one.path);
    if (cover.there.IsAbsent()) continue;
    // Nothing can be mounted over a path that cannot be looked at, and so no command runs.
    const bool whole = !cover.there.exists || cover.there.IsDirectory();
    mounts.push_back({whole ? sandbox::MountKind::kTmpfs : sandbox::MountKind::kReadOnly,
                      whole ? "" : "/dev/null", std::move(cover.path)});
  }
  return mounts;
}

TreeGuard::Watching TreeGuard::Start(const Found& found) {
  guard_.Mounted(found.watch, found.sealed);
  if (found.watch == nullptr) return Watching(nullptr);
  ++watching_;
  if (!saves_ && guard_.fd() >= 0) {
    Result<PollHandle> poll = PollHandle::Create(loop_, guard_.fd(), [this] { guard_.Look(); });
    if (poll) saves_.emplace(std::move(*poll));
  }
  if (saves_) saves_->Start();
  return Watching(this);
}

void TreeGuard::StopWatching() {
  if (--watching_ == 0 && saves_) saves_->Stop();
}

Task<bool> TreeGuard::Compare(Found found, Execution& execution) {
  if (found.watch != nullptr || found.below) {
    Task<bool> settling = writers_.Settled();
    [[maybe_unused]] const bool settled = co_await settling;
  }
  // Without a view of its own it had none of the mounts.
  if (!execution.namespaces) guard_.Mounted(found.watch, {});
  Task<std::vector<ProtectedChange>> ending = WithinMemory(
      guard_.End(found.watch), [&] { return NotCompared(found.watch->found->key.directory); });
  execution.protected_changes = co_await ending;
  if (execution.namespaces) execution.sealed = std::move(found.sealed);
  if (found.watch != nullptr) execution.Warn(WarningOf(found.watch->found->left_out));
  if (!found.below) co_return true;
  Task<NestedRepositories::Ended> looking = WithinMemory(
      nested_.End(found.below, GitDirectories(found.watch, execution.namespaces)),
      [&] { return NestedRepositories::Ended{.changes = NotCompared("repositories below")}; });
  NestedRepositories::Ended ended = co_await looking;
  for (const ProtectedChange& change : ended.changes) {
    if (!change.restored) guard_.MustGo(found.watch, change.path);
  }
  std::ranges::move(ended.changes, std::back_inserter(execution.protected_changes));
  execution.Warn(ended.warning);
  co_return true;
}

void TreeGuard::GiveUpLooks() {
  // Whoever is told may end, and forget its flag.
  const std::set<std::shared_ptr<GiveUp>> looks = looks_;
  for (const auto& given_up : looks) given_up->Set();
}

void TreeGuard::Close() { saves_.reset(); }

}  // namespace pa
