// ProtectedPathsGuard: holds in memory what a command must leave as it is, compares it when the
// command has ended, and restores it (docs/adr/0015).
//
//    ProtectedPathsGuard guard(loop, "/home/ann/.local/state");
//    // before the command starts
//    Task<ProtectedOr<Watch>> beginning = guard.Begin(plan.directory, allow, policy);
//    ProtectedOr<Watch> watch = co_await beginning;
//    if (!watch) ...                                           // nothing may run
//    ... the command runs, and its whole tree is dead ...
//    Task<std::vector<ProtectedChange>> ending = guard.End(*watch);
//    std::vector<ProtectedChange> changes = co_await ending;
//
// An untouched repository costs two lstat(2) calls for each protected file. Files are searched for,
// read, compared and restored by the janitor: this class opens nothing in the working directory. If
// the janitor fails before a command, the command does not run. If it fails after a command, the
// paths are "not compared", and the next command does not run before they are restored. Commands
// overlap: a command that begins while others run takes over the state that those have found,
// because the present state may be their doing. Two servers that work in one place do not know of
// each other.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/decide.h"
#include "supervisor/guard/compare_state.h"
#include "supervisor/guard/guarded_state.h"
#include "supervisor/guard/mount_watch.h"
#include "supervisor/janitor/janitor.h"
#include "supervisor/loop/task.h"

using uv_loop_t = struct uv_loop_s;

namespace pa {

// A view has at most this many mounts for protected paths. If a repository has very many
// submodules, only the guard protects the rest.
inline constexpr std::size_t kMaxProtectedMounts = 256;

// What the guard has to know of a command, and of the commands that run beside it.
struct GuardAround {
  std::vector<policy::RepositoryBelow> below = {};
  bool mounts = false;         // as in policy::ProtectionQuery
  bool git_read_only = false;  // the same
  // Whether other commands can write the git directory at this path, and their guards do not hold
  // it. Its present state may be their doing, so it is not held for this command either. Called
  // once everything was found.
  std::function<bool(const std::string&)> open = nullptr;
  bool runs = true;  // false: nothing will run, and no command takes over what was found
};

class ProtectedPathsGuard {
 public:
  // `janitor`: borrowed.
  ProtectedPathsGuard(uv_loop_t* loop, Janitor& janitor, std::string state_home);
  ProtectedPathsGuard(const ProtectedPathsGuard&) = delete;
  ProtectedPathsGuard& operator=(const ProtectedPathsGuard&) = delete;

  using Repositories = std::vector<policy::RepositoryBelow>;

  // Everything that decides which paths are protected, except the file system.
  struct Key {
    std::string directory;
    std::vector<std::string> writable;
    policy::PolicyPtr policy;
    Repositories repositories = {};  // below, and not made by commands
    bool mounts = false;             // as in policy::ProtectionQuery
    bool git_read_only = false;      // the same
    bool operator==(const Key&) const = default;
  };
  // Shared by the calls that find it unchanged.
  struct Found : GuardedState {
    Key key;
  };
  struct Known {
    std::shared_ptr<const Found> found;
    // From the last check that found it unchanged; null: there was none yet.
    std::shared_ptr<const policy::HolderStamps> holders = nullptr;
  };
  // The state of one call. Nothing else holds descriptors, which keep file systems from being
  // unmounted.
  struct Watched {
    std::shared_ptr<const Found> found;
    std::shared_ptr<const policy::HolderStamps> holders = nullptr;               // as in Known
    std::unordered_map<std::string, std::shared_ptr<const UniqueFd>> pins = {};  // by path
    std::int64_t began_ns = 0;  // by the clock that stamps files
    // The same, read again once its stamps proved something: for calls that begin from now on.
    mutable std::shared_ptr<const Watched> renewed = nullptr;
    mutable std::uint64_t next_renewal_ms = 0;  // by the loop's clock
  };
  using Watch = std::shared_ptr<const Watched>;  // null: the command can write nowhere

  Task<ProtectedOr<Watch>> Begin(const policy::WorkingDirectory& directory,
                                 const policy::Allow& allow, policy::PolicyPtr policy,
                                 GuardAround around = {});
  Task<std::vector<ProtectedChange>> End(Watch watch);
  // The file at `path`, which the command of `watch` could write, could not be moved away. No
  // command that could write there begins before it is gone.
  void MustGo(const Watch& watch, const std::string& path);

  // Only searches; what the janitor has to read for it stands in its orders.
  Task<ProtectedOr<bool>> Search(Key key);

  // Call it right before the command starts. `sealed`: the protected paths that are mounts in the
  // command's own view; empty: there are none.
  void Mounted(const Watch& watch, const std::vector<SealedPath>& sealed);
  // Readable when there are events for Look(); -1 as long as nothing was ever mounted.
  int fd() const { return mounts_.fd(); }
  void Look() { mounts_.Drain(); }

 private:
  static constexpr std::size_t kMaxKnown = 16;              // states that are remembered
  static constexpr std::size_t kMaxKnownBytes = 64u << 20;  // of content, together

  using Seen = std::vector<Watch>;
  using FoundPtr = std::shared_ptr<const Found>;

  Task<ProtectedOr<Known>> Find(const Key& key);
  Task<ProtectedOr<FoundPtr>> Read(const Key& key);
  // Waits until nothing is restored where `trees` overlap. Call LeaveTrees afterwards.
  Task<bool> EnterTrees(const std::vector<std::string>& trees);
  void LeaveTrees(const std::vector<std::string>& trees);
  // The record of the mounts once everything is read that it needs.
  Task<MountRecord> CompleteRecord();
  Task<Result<Compared>> Compare(const Watch& watch, bool renew);
  JanitorOrder OrderFor(std::string_view chore, const Key& key) const;
  // Restores what earlier commands have changed where a command of `key` can write, if it could not
  // be restored then. A failure: no command may run there.
  Task<std::optional<policy::ProtectionFailure>> RestoreOwed(const Key& key);
  void Owe(const GuardedPath& guarded) { owed_.try_emplace(guarded.path.path, guarded); }
  void Remember(FoundPtr found);
  Watch Running(const Key& key, bool runs) const;
  void Renew(const Watch& watch, FoundPtr again);
  std::string QuarantineFor(const Key& key) const;

  uv_loop_t* loop_;
  Janitor& janitor_;
  std::string state_home_;
  // By working directory: files and repositories elsewhere that decide what is protected there.
  std::map<std::string, std::vector<std::string>> outside_;
  MountWatch mounts_;
  std::list<Known> known_;  // the most recently used first
  std::vector<std::weak_ptr<const Watched>> active_;
  // For each Begin in progress: what was found for the commands that ran at any time since.
  std::list<std::shared_ptr<Seen>> beginning_;
  // Paths that were removed while other commands ran. Those may have found them there, but they
  // must not be restored.
  CondemnedPaths condemned_;
  std::map<std::string, GuardedPath> owed_;  // by path
  std::vector<ProtectedChange> late_;        // restored since, not reported yet
  // The trees in which something is compared and restored now. One at a time where they overlap:
  // two would undo each other's work.
  std::list<std::vector<std::string>> restoring_;
};

}  // namespace pa
