// ProtectedPathsGuard: what a command must leave as it is, held in memory while it runs, compared
// when it has ended, and made again (docs/adr/0015).
//
//   ProtectedPathsGuard guard(loop, "/home/ann/.local/state");
//   // before it starts
//   ProtectedOr<Watch> watch = co_await guard.Begin(plan.directory, allow, policy);
//   if (!watch) ...                                           // nothing may run
//   ... the command runs, and its whole tree is dead ...
//   std::vector<ProtectedChange> changes = co_await guard.End(*watch);
//
// An untouched repository costs a lstat(2) for each protected file, twice; whatever takes longer is
// done on a thread. Commands overlap: whoever begins while others run takes over what those have
// seen, because what stands there now may be their doing. Two servers at work in one place do not
// know of each other.
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
#include "supervisor/guard/mount_watch.h"
#include "supervisor/guard/repository_copy.h"
#include "supervisor/guard/restorer.h"
#include "supervisor/loop/run_queue.h"
#include "supervisor/loop/task.h"

using uv_loop_t = struct uv_loop_s;

namespace pa {

// A view has at most this many mounts for protected paths; the rest of a repository with very many
// submodules is the guard's alone.
inline constexpr std::size_t kMaxProtectedMounts = 256;

// Of a command, and of those beside it.
struct GuardAround {
  std::vector<policy::RepositoryBelow> below = {};
  bool mounts = false;  // as policy::ProtectionQuery has it
  // Whether others can write the git directory at this path, which they do not hold: what is there
  // now may be their doing, so it is not held either. Asked when everything was found.
  std::function<bool(const std::string&)> open = nullptr;
  bool runs = true;  // else nothing shall run, and nobody takes over what was found
};

template <typename T>
using ProtectedOr = std::expected<T, policy::ProtectionFailure>;

class ProtectedPathsGuard {
 public:
  ProtectedPathsGuard(uv_loop_t* loop, std::string state_home)
      : loop_(loop), state_home_(std::move(state_home)) {}

  using Repositories = std::vector<policy::RepositoryBelow>;

  // All that decides which paths are protected, but for what lies in the file system.
  struct Key {
    std::string directory;
    std::vector<std::string> writable;
    policy::PolicyPtr policy;
    Repositories repositories = {};  // below, and not made by commands
    bool mounts = false;             // as policy::ProtectionQuery has it
    bool operator==(const Key&) const = default;
  };
  // Shared by the calls that find it unchanged.
  struct Found {
    Key key;
    std::vector<GuardedPath> paths;  // without pins; what holds another comes first
    std::vector<policy::ProtectedPaths::Index> indexes;
    std::vector<GuardedPath> deciders;  // put back only if nobody could read them (kFile, kNames)
    std::vector<policy::ProtectedPaths::Input> inputs;
    std::vector<std::shared_ptr<const RepositoryCopy>> copies;
    std::string audit_directory = {};        // where the command could write it; else ""
    bool settled = true;                     // the stamps of all these prove something
    std::vector<std::string> left_out = {};  // as policy::ProtectedPaths has it
    std::vector<std::string> open = {};      // git directories that are not held
  };
  struct Known {
    std::shared_ptr<const Found> found;
    // Of the last look that found it unchanged; null: of none but the first.
    std::shared_ptr<const policy::HolderStamps> holders = nullptr;
  };
  // Of one call. Only that one keeps descriptors, and what it has mounted busy.
  struct Watched {
    std::shared_ptr<const Found> found;
    std::shared_ptr<const policy::HolderStamps> holders = nullptr;  // as Known has them
    std::unordered_map<std::string, std::shared_ptr<const UniqueFd>> pins = {};  // by path
    std::int64_t began_ns = 0;  // of the clock that stamps files
  };
  using Watch = std::shared_ptr<const Watched>;  // null: the command can write nowhere

  Task<ProtectedOr<Watch>> Begin(const policy::WorkingDirectory& directory,
                                 const policy::Allow& allow, policy::PolicyPtr policy,
                                 GuardAround around = {});
  Task<std::vector<ProtectedChange>> End(Watch watch);
  // What could not be taken away from `path`, which the command of `watch` could write.
  void MustGo(const Watch& watch, const std::string& path);

  // `sealed` is what mounts of the command's own view keep, of what it may write; right before it
  // starts.
  void Mounted(const Watch& watch, const std::vector<SealedPath>& sealed);
  // Readable when something is to be looked at; -1 as long as nothing was ever mounted.
  int fd() const { return mounts_.fd(); }
  void Look() { mounts_.Drain(); }

 private:
  static constexpr std::size_t kMaxKnown = 16;              // repositories that are remembered
  static constexpr std::size_t kMaxKnownBytes = 64u << 20;  // of content, together

  using Seen = std::vector<Watch>;
  using Condemned = std::map<std::string, std::string>;  // path, area

  using FoundPtr = std::shared_ptr<const Found>;

  Task<ProtectedOr<Known>> Find(const Key& key);
  // What earlier commands have changed there and was not put back then is, or no command runs.
  Task<std::optional<policy::ProtectionFailure>> PutBack(const Key& key);
  void Owe(const GuardedPath& guarded) { owed_.try_emplace(guarded.path.path, guarded); }
  void Remember(FoundPtr found);
  Watch Running(const Key& key, bool runs) const;
  std::string QuarantineFor(const Key& key) const;

  uv_loop_t* loop_;
  std::string state_home_;
  MountWatch mounts_;
  std::list<Known> known_;  // the one used last comes first
  std::vector<std::weak_ptr<const Watched>> active_;
  // Of those that look around now: what others found that ran at any time since.
  std::list<std::shared_ptr<Seen>> beginning_;
  // What was taken away while others ran: they may have found it there, and it must not come back.
  Condemned condemned_;
  std::map<std::string, GuardedPath> owed_;  // by path
  std::vector<ProtectedChange> late_;        // what has been put back since, to be told
  RunQueue restoring_;                       // one at a time: two would displace each other's work
};

}  // namespace pa
