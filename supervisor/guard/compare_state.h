// CompareState: compares what a command had to leave as it is with what is there when it has ended,
// and restores it. For a janitor's process: it reads, moves and makes files where other commands
// may still be at work.
//
//    const Compared compared = CompareState(comparison);
//    for (const ProtectedChange& change : compared.changes) ...
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/guard/guarded_state.h"
#include "supervisor/guard/mount_watch.h"

namespace pa {

// By path; the writable tree that contains it.
using CondemnedPaths = std::map<std::string, std::string>;

struct Comparison {
  GuardedState state = {};
  GuardQuery query = {};  // by which it was found
  // Paths that were removed while the command ran. It may have found them there, but they must not
  // be restored.
  CondemnedPaths condemned = {};
  MountRecord record = {};
  std::string quarantine = {};  // the base of a Quarantine
  bool renew = false;           // read the state again if nothing changed
};

struct Restored {
  std::vector<ProtectedChange> changes = {};
  std::vector<GuardedPath> owed = {};  // could not be compared or restored: later it may be
};

struct Compared {
  Restored restored = {};
  std::optional<GuardedState> again = {};  // as asked for by `renew`
};

// The paths of `comparison.state` may have pins.
Compared CompareState(const Comparison& comparison);

// Restores `baseline`. Its paths may have pins.
Restored RestorePaths(const std::vector<GuardedPath>& baseline, const std::string& quarantine);

}  // namespace pa
