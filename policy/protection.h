// ProtectionSource, ProtectionFailure: the source of a protection of paths
// (policy/protected_paths.h), and why there is none.
#pragma once

#include <utility>

#include "base/error.h"

namespace pa::policy {

// kPolicy: filesystem.protect. kGitCommands: git.commands, which can be given another value.
enum class ProtectionSource { kBuiltIn, kPolicy, kGitCommands };

// Why the protected paths of a command could not be found, or cannot be kept as they are. The
// command must not run then.
struct ProtectionFailure : Error {
  enum class Kind {
    kUnreadable,
    // The working directory lies in a path that commands must leave as it is; `subject` names that
    // path and the reason.
    kWithin,
    kOwed,        // a change by an earlier command cannot be restored
    kOutOfReach,  // `subject` is a file that the user may read and a janitor's process may not
    kMoved,       // a directory in which the command may write is another one now
    kNobody,      // who should have read it was killed, took too long or too much memory
  };
  ProtectionFailure() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): nearly all of them are about what cannot be read.
  ProtectionFailure(Error error, Kind what = Kind::kUnreadable)
      : Error(std::move(error)), kind(what) {}
  Kind kind = Kind::kUnreadable;
};

}  // namespace pa::policy
