// ProtectedChange and SealedPath: what happened to protected paths while a command ran. Plain
// values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/host_files.h"
#include "policy/protection.h"

namespace pa {

enum class ChangeKind {
  kChanged,
  kAdded,
  kRemoved,
  kReplaced,
  kMoved,
  kLinked,  // it has one more hard link
  kFilled,  // with more new names than are moved one by one
  kPermissions,
  kDamaged,         // a repository
  kMadeUnreadable,  // by the command, so that it could not be compared
  kNotCompared,     // it could not be: descriptors, memory or the like were lacking
  kOutOfReach,      // a directory on the way to it is gone
  kNewRepository,   // a repository that a command made holds files that git would execute
};
std::string_view ChangeText(ChangeKind kind);  // "changed", "added", ...: `protected path TEXT`

// A protected path (policy/protected_paths.h) that a command did not leave as it was.
struct ProtectedChange {
  std::string path;
  ChangeKind kind;
  bool restored = false;    // it is again what it was
  std::string kept;         // new path of the file that was in its place; "" = there was none
  std::string failure;      // why it is not restored, if the system said why
  std::string why = {};     // what was wrong with it, if that is not obvious
  bool repository = false;  // a git repository was damaged: the call failed, whatever was restored
};

// A path that a mount of the command's own view kept as it was
// (supervisor/guard/protected_mounts.h).
// What a read-only git directory holds that git executes: no policy gives it to commands.
struct KeptWithin {
  std::string path;
  std::string reason;  // as in policy::ProtectedPath
  bool whole = false;  // with everything beneath
  bool operator==(const KeptWithin&) const = default;
};

struct SealedPath {
  std::string path;
  bool read_only = false;  // with everything in it; false: it is only pinned
  std::string reason;      // as in policy::ProtectedPath
  const policy::HostFile* host = nullptr;
  policy::ProtectionSource source = policy::ProtectionSource::kBuiltIn;
  std::vector<KeptWithin> within = {};  // if `source` is kGitCommands
  bool operator==(const SealedPath&) const = default;
};

}  // namespace pa
