// ProtectedChange and SealedPath: what happened to protected paths while a command ran. Plain
// values.
#pragma once

#include <string>
#include <string_view>

#include "policy/host_files.h"
#include "policy/protection.h"

namespace pa {

enum class ChangeKind {
  kChanged,
  kAdded,
  kRemoved,
  kReplaced,
  kMoved,
  kLinked,  // it has another name now
  kFilled,  // with more than can be looked at
  kPermissions,
  kDamaged,         // a repository
  kMadeUnreadable,  // by the command, so that it could not be compared
  kNotCompared,     // it could not be, for want of means
  kOutOfReach,      // the way to it is gone
  kNewRepository,   // one that a command made holds what git would execute
};
std::string_view ChangeText(ChangeKind kind);  // "changed", "added", ...: `protected path TEXT`

// A protected path that was not after the command what it was before (policy/protected_paths.h).
struct ProtectedChange {
  std::string path;
  ChangeKind kind;
  bool restored = false;    // it is what it was again
  std::string kept;         // where lies now what stood there instead; "" = there was nothing
  std::string failure;      // why it is not restored, if the system said why
  std::string why = {};     // what was wrong with it, where that is not plain
  bool repository = false;  // a git repository was damaged: the call failed, whatever came back
};

// A path that a mount of the command's own view kept as it is
// (supervisor/guard/protected_mounts.h).
struct SealedPath {
  std::string path;
  bool read_only = false;  // with all that is in it; else it is only neither moved nor removed
  std::string reason;      // as policy::ProtectedPath has it
  const policy::HostFile* host = nullptr;
  policy::ProtectionSource source = policy::ProtectionSource::kBuiltIn;
  bool operator==(const SealedPath&) const = default;
};

}  // namespace pa
