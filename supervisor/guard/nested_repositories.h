// NestedRepositories: protects the git repositories below the working directory (docs/adr/0036).
// Repositories that exist before a command are the user's and stay as they are. Repositories that
// commands of ours made stay writable; when a command has ended, everything that git would execute
// in them is moved to the quarantine.
//
//    auto company = nested.Gather();
//    Task<Watch> look = nested.Begin(plan.directory, policy);              // before the command
//    Watch watch = co_await look;
//    ... the guard begins with GuardAround{.below = watch->existing, ...} ...
//    nested.LeaveOpen(watch, *company, found->open);                       // `found`: the guard's
//    ... the command runs, and the guard ends ...
//    Task<Ended> ending = nested.End(watch, kept);     // `kept`: the guard's git directories
//    Ended ended = co_await ending;
//
// A repository that a command made is recorded in the state directory, by its inode and its time of
// birth, until a command removes it. If it contains something that no command of ours can have left
// there, the user has begun to use it, and it is the user's from then on. If the search before a
// command was not complete, only repositories that were born since can be the command's, and the
// user's are known from earlier searches.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/made_repository.h"
#include "policy/policy.h"
#include "policy/repositories_below.h"
#include "policy/working_directory.h"
#include "supervisor/guard/judge_repositories.h"
#include "supervisor/guard/protected_change.h"
#include "supervisor/janitor/janitor.h"
#include "supervisor/loop/give_up.h"
#include "supervisor/loop/task.h"

using uv_loop_t = struct uv_loop_s;

namespace pa {

class NestedRepositories {
 public:
  using Repositories = std::vector<policy::RepositoryBelow>;

  // For the first search of a directory, even on a slow disk: a repository that this search misses
  // and the next one finds is taken for a command's.
  static constexpr ScanLimits kFirstLook = {.entries = 40'000'000,
                                            .time = std::chrono::seconds(60)};

  // `janitor`: borrowed.
  NestedRepositories(uv_loop_t* loop, Janitor& janitor, std::string state_home,
                     ScanLimits limits = {}, ScanLimits first = kFirstLook)
      : loop_(loop),
        janitor_(janitor),
        state_home_(std::move(state_home)),
        limits_(limits),
        first_(first) {}

  using Maker = RepositoryMaker;
  // The same for one running command, for others that begin meanwhile.
  struct Bounds : Maker {
    bool complete = true;                    // as in Watched
    std::int64_t began_ns = 0;               // as RepositoryBelow::born_ns
    std::map<std::string, Maker> open = {};  // by path: not held by its guard either
  };
  using Company = std::vector<std::shared_ptr<const Bounds>>;
  struct Watched {
    policy::WorkingDirectory directory;
    policy::PolicyPtr policy;
    Repositories existing = {};
    Repositories made = {};                // by commands, so commands may write them
    std::string unread = {};               // why that is unknown of some, which count as existing
    bool complete = true;                  // the search found all
    std::int64_t began_ns = 0;             // as RepositoryBelow::born_ns
    std::vector<std::string> closed = {};  // as ScannedTree::closed
    std::shared_ptr<Bounds> bounds = std::make_shared<Bounds>();
  };
  using Watch = std::shared_ptr<const Watched>;
  struct Ended {
    std::vector<ProtectedChange> changes = {};
    // The new repositories, and what could not be searched or recorded; "" = nothing to say.
    std::string warning = {};
  };

  // The commands that run at any time from now on, while the result is held.
  std::shared_ptr<const Company> Gather();
  // The command in `company`, other than `self`, that can write in the git directory (the link,
  // ...) at `path`, which was found for another command. The present state must not be restored
  // later: it may be the doing of the command in `company`.
  std::optional<Maker> MakerOf(const std::string& path, const Company& company, const Watch& self,
                               const policy::Policy& policy) const;
  // Set when nobody waits for the search any more. Null: it is never cancelled.
  using GivenUp = std::shared_ptr<GiveUp>;

  // An error: nothing is known, and no command may begin. ECANCELED: nobody waits any more.
  Task<Result<Watch>> Begin(policy::WorkingDirectory directory, policy::PolicyPtr policy,
                            GivenUp given_up = nullptr);
  // `open`: git directories that the command's guard does not hold, because other commands can
  // write them. They are judged when the command has ended.
  void LeaveOpen(const Watch& watch, const Company& company, const std::vector<std::string>& open);
  // The search is never cancelled. If it fails, the change is kNotCompared, and no command begins
  // there before it was done: a repository that nobody judged would count as the user's. `kept`:
  // git directories that are protected in another way.
  Task<Ended> End(Watch watch, std::vector<policy::KeptDirectory> kept = {});

 private:
  static constexpr std::size_t kMaxScans = 16;      // directories whose searches are kept
  static constexpr std::size_t kMaxUsers = 10'000;  // repositories
  struct Scan;                                      // what is known of one directory
  struct Seen {
    Repositories repositories;
    std::string unseen;  // "" = everything was seen
    std::vector<std::string> closed;
  };
  struct Judged {
    Repositories made = {};    // all that commands made, except `excess`
    Repositories excess = {};  // those that are too many to be recorded
    std::string warning = {};
  };

  // Searches for repositories. `ended`: directories that this command made inaccessible are opened
  // again.
  Task<Result<Seen>> Look(policy::WorkingDirectory directory, Watch ended, GivenUp given_up);
  Task<Result<ReadTree>> Read(const policy::WorkingDirectory& directory, const ChangedTree& changed,
                              const ScanLimits& limits, GivenUp given_up);
  // Judges what commands there left, if that was not possible when they ended.
  Task<Result<void>> JudgeOwed(const std::string& directory);
  Task<Result<Ended>> TryToEnd(Watch watch, std::vector<policy::KeptDirectory> kept);
  bool CanMake(const Bounds& bounds, const std::string& path, const policy::Policy& policy) const;
  static bool CanHaveMade(const Watched& watched, const policy::RepositoryBelow& one);
  Repositories KnownBelow(const std::string& directory) const;
  void Learn(const Watched& watched);
  Task<Result<Repositories>> Unclean(const Repositories& made, const Watched& watched,
                                     GivenUp given_up);
  // Records the new repositories and forgets those that are gone.
  Judged Remember(const Watched& watched, const Seen& seen);
  std::shared_ptr<Scan> ScanOf(const std::string& directory);
  Result<bool> IsMade(const policy::RepositoryBelow& one, const policy::Policy& policy) const;
  bool IsBeingMade(const policy::RepositoryBelow& one) const;
  // Without a state directory the record lasts until the server ends, which is no error.
  Result<void> Record(const policy::RepositoryBelow& one, const policy::Policy& policy);
  void Forget(const policy::RepositoryBelow& one, const policy::Policy& policy);
  std::string FileOf(const policy::RepositoryBelow& one, const policy::Policy& policy) const;

  uv_loop_t* loop_;
  Janitor& janitor_;
  std::string state_home_;
  ScanLimits limits_;  // of a directory that was searched before
  ScanLimits first_;   // of any other one
  struct Owed {
    Watch watch;
    std::vector<policy::KeptDirectory> kept;
    bool judging = false;  // now
  };
  std::list<Owed> owed_;
  std::vector<ProtectedChange> late_;       // found since, not reported yet
  std::list<std::shared_ptr<Scan>> scans_;  // the most recently used first
  std::vector<std::weak_ptr<const Watched>> active_;
  std::list<std::weak_ptr<Company>> gathered_;
  std::set<std::string> made_;                            // by inode and birth
  std::map<std::string, policy::RepositoryBelow> users_;  // by path
};

}  // namespace pa
