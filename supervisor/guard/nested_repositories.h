// NestedRepositories: git repositories below the working directory (docs/adr/0036). Those that are
// there before a command are the user's and stay as they are; those that commands of ours have made
// stay writable, and what git would execute in them is taken out when a command has ended.
//
//   auto company = nested.Gather();
//   Watch watch = co_await nested.Begin(plan.directory, policy);     // before the command
//   guard.Begin(..., watch->existing, ...);  // but for what is open to `company`
//   nested.LeaveOpen(watch, *company, what the guard has left open);
//   ... the command, and the guard's own work ...
//   Ended ended = co_await nested.End(watch, the guard's git directories);
//
// One that was made is known by its inode and birth, in the state directory, until a command
// removes it. If it holds what no command of ours can have left there, the user has put it to use,
// and it is the user's from then on. Where the look before a command did not see everything, only
// what was born since can be the command's, and the user's are known from earlier looks.
#pragma once

#include <atomic>
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
#include "supervisor/guard/protected_change.h"
#include "supervisor/loop/task.h"

using uv_loop_t = struct uv_loop_s;

namespace pa {

class NestedRepositories {
 public:
  using Repositories = std::vector<policy::RepositoryBelow>;

  // Of a directory of which nothing is known yet, be its disk as slow as it may: what this look
  // does not find, and the next one does, is taken for a command's.
  static constexpr ScanLimits kFirstLook = {.entries = 40'000'000,
                                            .time = std::chrono::seconds(60)};

  NestedRepositories(uv_loop_t* loop, std::string state_home, ScanLimits limits = {},
                     ScanLimits first = kFirstLook)
      : loop_(loop), state_home_(std::move(state_home)), limits_(limits), first_(first) {}

  // Who can write a git directory without holding it, and judges it: below `directory`, but for
  // `existing`.
  struct Maker {
    std::string directory;
    std::shared_ptr<const Repositories> existing;
  };
  // The same of one command, for others that begin while it runs.
  struct Bounds : Maker {
    bool complete = true;                    // as Watched has it
    std::int64_t began_ns = 0;               // as RepositoryBelow::born_ns
    std::map<std::string, Maker> open = {};  // around it, by path: not held by it either
  };
  using Company = std::vector<std::shared_ptr<const Bounds>>;
  struct Watched {
    policy::WorkingDirectory directory;
    policy::PolicyPtr policy;
    Repositories existing = {};
    Repositories made = {};                // by commands, which may write them
    std::string unread = {};               // why that is not known of some, which count as existing
    bool complete = true;                  // nothing else was there
    std::int64_t began_ns = 0;             // as RepositoryBelow::born_ns
    std::vector<std::string> closed = {};  // directories that nobody may read, as TreeScan has them
    std::shared_ptr<Bounds> bounds = std::make_shared<Bounds>();
  };
  using Watch = std::shared_ptr<const Watched>;
  struct Ended {
    std::vector<ProtectedChange> changes = {};
    std::string warning =
        {};  // the new ones, what was not looked at or remembered; "" = nothing to say
  };

  // Those that run at any time from now on, as long as it is held.
  std::shared_ptr<const Company> Gather();
  // Who of `company`, but for `self`, can write in a git directory (a link, ...) at `path`, which
  // the look around a command has found. What is there now is no state to be kept: it may be that
  // one's doing.
  std::optional<Maker> MakerOf(const std::string& path, const Company& company, const Watch& self,
                               const policy::Policy& policy) const;
  // Set when nobody waits for the look any more. null: nobody sets it.
  using GivenUp = std::shared_ptr<const std::atomic<bool>>;

  // Null: it was given up, so nothing is known, and no command may begin.
  Task<Watch> Begin(policy::WorkingDirectory directory, policy::PolicyPtr policy,
                    GivenUp given_up = nullptr);
  // `open`: git directories that nobody holds for the command, because others can write them. They
  // are judged at its end.
  void LeaveOpen(const Watch& watch, const Company& company, const std::vector<std::string>& open);
  // Never given up: what is not judged now counts as the user's from then on. `kept`: what somebody
  // else looks after.
  Task<Ended> End(Watch watch, std::vector<policy::KeptDirectory> kept = {});

 private:
  static constexpr std::size_t kMaxScans = 16;      // directories that are remembered
  static constexpr std::size_t kMaxUsers = 10'000;  // repositories
  struct Scan;                                      // what is known of one directory
  struct Seen {
    Repositories repositories;
    std::string unseen;  // "" = everything was seen
    std::vector<std::string> closed;
  };
  struct Judged {
    Repositories made = {};    // all that commands made
    Repositories excess = {};  // and that are too many to be known
    std::string warning = {};
  };

  // `ended`: what the command has closed is opened. What a look that was given up has seen is
  // nothing.
  Task<Seen> Look(policy::WorkingDirectory directory, Watch ended, GivenUp given_up);
  bool CanMake(const Bounds& bounds, const std::string& path, const policy::Policy& policy) const;
  static bool CanHaveMade(const Watched& watched, const policy::RepositoryBelow& one);
  Repositories KnownBelow(const std::string& directory) const;
  void Learn(const Watched& watched);
  Task<Repositories> Unclean(const Repositories& made, const Watched& watched, GivenUp given_up);
  // Records the new ones and forgets those that are gone.
  Judged Remember(const Watched& watched, const Seen& seen);
  std::shared_ptr<Scan> ScanOf(const std::string& directory);
  Result<bool> IsMade(const policy::RepositoryBelow& one, const policy::Policy& policy) const;
  bool IsBeingMade(const policy::RepositoryBelow& one) const;
  // Without a state directory until the server ends, which is no error.
  Result<void> Record(const policy::RepositoryBelow& one, const policy::Policy& policy);
  void Forget(const policy::RepositoryBelow& one, const policy::Policy& policy);
  std::string FileOf(const policy::RepositoryBelow& one, const policy::Policy& policy) const;

  uv_loop_t* loop_;
  std::string state_home_;
  ScanLimits limits_;                       // of a directory that is known
  ScanLimits first_;                        // of another
  std::list<std::shared_ptr<Scan>> scans_;  // the one used last comes first
  std::vector<std::weak_ptr<const Watched>> active_;
  std::list<std::weak_ptr<Company>> gathered_;
  std::set<std::string> made_;                            // by inode and birth
  std::map<std::string, policy::RepositoryBelow> users_;  // by path
};

}  // namespace pa
