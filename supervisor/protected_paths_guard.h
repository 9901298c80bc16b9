// ProtectedPathsGuard: what a command must leave as it is, held in memory while it runs, compared
// when it has ended, and made again (docs/adr/0015).
//
//   ProtectedPathsGuard guard("/home/ann/.local/state");
//   auto watch = guard.Begin(plan.directory, allow, policy);  // right before the command starts
//   if (!watch) ...                                           // nothing may run
//   ... the command runs, and its whole tree is dead ...
//   std::vector<ProtectedChange> changes = guard.End(*watch);
//
// An untouched repository costs a lstat(2) for each protected file, twice. Commands overlap: whoever
// begins while others run takes over what those have seen, because what stands there now may be their
// doing. Two servers at work in one place do not know of each other.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "policy/decide.h"
#include "supervisor/restorer.h"

namespace pa {

class ProtectedPathsGuard {
 public:
  explicit ProtectedPathsGuard(std::string state_home) : state_home_(std::move(state_home)) {}

  // All that decides which paths are protected, but for what lies in the file system.
  struct Key {
    std::string directory;
    std::vector<std::string> writable;
    policy::PolicyPtr policy;
    bool operator==(const Key&) const = default;
  };
  struct Watched {
    Key key;
    std::vector<GuardedPath> paths;  // what holds another comes first
    std::vector<policy::ProtectedPaths::Index> indexes;
    std::string audit_directory = {};  // where the command could write it; else ""
  };
  using Watch = std::shared_ptr<const Watched>;  // null: the command can write nowhere

  Result<Watch> Begin(const policy::WorkingDirectory& directory, const policy::Allow& allow,
                      const policy::PolicyPtr& policy);
  std::vector<ProtectedChange> End(const Watch& watch);

 private:
  static constexpr std::size_t kMaxKnown = 16;  // repositories that are remembered

  struct Known {
    Watched watched;  // without pins
    std::vector<policy::ProtectedPaths::Input> inputs;
    bool settled = true;
  };

  Result<const Known*> Find(const Key& key);
  static Result<Known> Read(const Key& key);
  static bool Holds(Known& known);
  void Overlay(Watched& watched) const;
  bool IsCondemned(const std::string& path) const;
  std::vector<GuardedPath> Baseline(const Watched& watched,
                                    std::vector<ProtectedChange>& changes) const;

  std::string state_home_;
  std::list<Known> known_;  // the one used last comes first
  std::vector<std::weak_ptr<const Watched>> active_;
  // What was taken away while others ran: they may have found it there, and it must not come back.
  std::map<std::string, std::string> condemned_;  // path, area
};

}  // namespace pa
