#include "supervisor/run/repository_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/pack.h"
#include "supervisor/guard/guard_fields.h"
#include "supervisor/janitor/file_chores.h"
#include "supervisor/loop/background.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/pause.h"
#include "supervisor/run/git_at_work.h"
#include "supervisor/state/state_directory.h"

namespace pa {

template <>
inline constexpr auto kLastOf<LockRemoval> = LockRemoval::kNot;

namespace {

constexpr std::string_view kRemoveGitLock = "remove-git-lock";

std::string RemoveGitLockChore(std::string_view input, std::span<const int> descriptors) {
  std::string name;
  PathStamp stamp;
  if (!Unpacker(input)(name, stamp) || descriptors.size() != 1) return "";
  return Pack(RemoveGitLock(descriptors[0], name, stamp));
}

constexpr Chore kChores[] = {{kRemoveGitLock, RemoveGitLockChore}};

// A lock has nobody whom it wakes; git takes longer than this.
constexpr std::chrono::milliseconds kTryAgain{20};
// For a tree that somebody is ending; two seconds.
constexpr int kLooks = 100;
// Beyond a command's time: its guardian's patience, and the time that it takes to start.
constexpr std::chrono::seconds kSlack{30};
constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);

// Those of another working tree of the repository wait for a call there.
bool IsOf(const GitRun& run, const HeldRepository& repository) {
  return run.device == repository.device && run.inode == repository.inode;
}

// What the janitor did not do counts as in use: another look may.
Task<LockRemoval> Remove(Janitor& janitor, const HeldRepository& held, const GitLock& lock) {
  const UniqueFd& directory = lock.own ? held.git_dir : held.common_dir;
  auto own = std::make_shared<const UniqueFd>(fcntl(directory.get(), F_DUPFD_CLOEXEC, 0));
  if (!*own) co_return LockRemoval::kInUse;
  JanitorOrder order{.chore = kRemoveGitLock,
                     .write = {lock.own ? held.names.git_dir : held.names.common_dir},
                     .descriptors = {std::move(own)}};
  Task<Result<LockRemoval>> removing =
      Ask<LockRemoval>(janitor, std::move(order), lock.name, lock.stamp);
  const Result<LockRemoval> removal = co_await removing;
  if (!removal) LogWarning("git lock: " + removal.error().Message());
  co_return removal.value_or(LockRemoval::kInUse);
}

// By the spawner: a server that has confined itself does not learn where others stand.
Task<Result<std::string>> LookForGit(uv_loop_t* loop, Spawner* spawner,
                                     policy::Repository repository) {
  const std::vector<std::string> directories = {repository.top_level, repository.git_dir,
                                                repository.common_dir};
  if (spawner != nullptr) {
    Task<Result<std::string>> asking = spawner->GitAtWork(directories);
    Result<std::string> told = co_await asking;
    co_return told;
  }
  Task<Result<std::string>> looking =
      InBackground<Result<std::string>>(loop, [&directories] { return GitAtWork(directories); });
  Result<std::string> found = co_await looking;
  co_return found;
}

// What the runs of `turn` left, which were killed. One whose locks are still in use stays in the
// file for the next.
Task<GitLocksFound> Clear(RepositoryHelpers helpers, RepositoryTurn& turn,
                          std::function<bool()> give_up) {
  GitLocksFound found;
  const HeldRepository& held = *turn.repository;
  Janitor& janitor = helpers.janitor;
  for (int look = 0; look < kLooks; ++look) {
    Task<Result<std::string>> reading =
        ReadTextIn(janitor, {held.names.git_dir, held.git_dir.get()}, "HEAD", kMaxHead);
    const Result<std::string> head = co_await reading;
    found = FindGitLocks(held, turn.runs, head, nullptr);
    if (found.asks) {
      Task<Result<std::string>> looking = LookForGit(helpers.loop, helpers.spawner, held.names);
      const Result<std::string> at_work = co_await looking;
      found = FindGitLocks(held, turn.runs, head, &at_work);
    }
    for (const GitLock& lock : found.ours) {
      Task<LockRemoval> removing = Remove(janitor, held, lock);
      const LockRemoval removal = co_await removing;
      Note(lock, removal, found);
    }
    for (const std::string& path : found.cleared) {
      LogWarning("removed " + path + ", which a git command of ours left when it was killed");
      turn.cleared.push_back(path);
    }
    if (!found.in_use || give_up()) break;
    Task<bool> pause = Pause(helpers.loop, kTryAgain);
    [[maybe_unused]] const bool woken = co_await pause;
  }
  if (!found.in_use) {
    std::erase_if(turn.runs, [&](const GitRun& run) { return IsOf(run, *turn.repository); });
  }
  co_return std::move(found);
}

}  // namespace

std::span<const Chore> GitLockChores() { return kChores; }

std::string RepositoryLockPath(const std::string& directory, const std::string& common_dir) {
  struct stat info{};
  if (stat(common_dir.c_str(), &info) != 0) return "";
  return directory + "/" + std::to_string(info.st_dev) + "-" + std::to_string(info.st_ino);
}

namespace {

// What passes is waited for by whoever calls again: git without its turn would run into another
// one's.
RepositoryTurn WithoutLock(const Error& why) {
  if (MeansUsedUp(why.sys_errno)) return {.granted = false, .used_up = why};
  LogWarning("git runs without taking turns with other servers: " + why.Message());
  return {};
}

Task<RepositoryTurn> AwaitLock(uv_loop_t* loop, std::string path,
                               const std::function<bool()>& give_up) {
  RepositoryTurn turn;
  UniqueFd lock(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock) co_return WithoutLock(Error("open", path, errno));
  while (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) co_return WithoutLock(Error("flock", path, errno));
    turn.granted = !give_up();
    if (!turn.granted) co_return std::move(turn);
    Task<bool> pause = Pause(loop, kTryAgain);
    [[maybe_unused]] const bool woken = co_await pause;
  }
  turn.lock = std::move(lock);
  co_return std::move(turn);
}

}  // namespace

Task<RepositoryTurn> AwaitRepository(uv_loop_t* loop, std::string directory, std::string common_dir,
                                     std::function<bool()> give_up) {
  const std::string path = RepositoryLockPath(directory, common_dir);
  Task<Result<void>> making =
      InBackground<Result<void>>(loop, [directory] { return MakeStateDirectory(directory); });
  const Result<void> made = co_await making;
  if (!made) co_return WithoutLock(made.error());
  if (path.empty()) co_return RepositoryTurn();
  Task<RepositoryTurn> queueing = AwaitLock(loop, path + "-next", give_up);
  RepositoryTurn next = co_await queueing;
  if (!next.granted) co_return std::move(next);
  Task<RepositoryTurn> task = AwaitLock(loop, path, give_up);
  RepositoryTurn turn = co_await task;
  co_return std::move(turn);
}

Task<bool> BeginGit(RepositoryHelpers helpers, RepositoryTurn& turn,
                    std::optional<policy::Repository> repository, std::chrono::milliseconds limit,
                    std::function<bool()> give_up) {
  if (!turn.lock || !repository) co_return false;
  Result<std::vector<GitRun>> killed = ReadGitRuns(turn.lock.get());
  if (!killed) LogWarning("locks of a killed git command remain: " + killed.error().Message());
  if (killed) turn.runs = std::move(*killed);
  turn.repository = HoldRepository(*repository);
  if (!turn.repository) co_return false;
  const HeldRepository& held = *turn.repository;
  if (std::ranges::any_of(turn.runs, [&](const GitRun& run) { return IsOf(run, held); })) {
    Task<GitLocksFound> task = Clear(helpers, turn, std::move(give_up));
    [[maybe_unused]] const GitLocksFound found = co_await task;
  }
  const std::int64_t begun = EarliestFromNow();
  const std::chrono::nanoseconds latest = std::min(limit, kLongest) + kSlack;
  turn.runs.push_back({held.device, held.inode, begun, begun + latest.count()});
  const Result<void> written = WriteGitRuns(turn.lock.get(), turn.runs);
  if (!written)
    LogWarning("locks of a killed git command will remain: " + written.error().Message());
  co_return written.has_value();
}

Task<bool> EndGit(RepositoryHelpers helpers, RepositoryTurn& turn, Execution& execution,
                  std::function<bool()> give_up) {
  if (!turn.repository) co_return false;
  const bool in_order = execution.outcome == Outcome::kExited && execution.strays_killed == 0;
  turn.runs.back().ends = LatestUntilNow();
  if (in_order) turn.runs.pop_back();
  if (!in_order || execution.exit_code != 0) {
    Task<GitLocksFound> task = Clear(helpers, turn, std::move(give_up));
    const GitLocksFound found = co_await task;
    for (const std::string& kept : found.kept) execution.Warn(kept);
  }
  for (const std::string& path : turn.cleared) {
    execution.Warn("removed " + path + ", which a git command of ours left when it was killed");
  }
  co_return WriteGitRuns(turn.lock.get(), turn.runs).has_value();
}

}  // namespace pa
