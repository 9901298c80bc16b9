// ProtectedChange and SealedPath: what happened to protected paths while a command ran. Plain values.
#pragma once

#include <string>

#include "policy/host_files.h"

namespace pa {

// A protected path that was not after the command what it was before (policy/protected_paths.h).
struct ProtectedChange {
  std::string path;
  std::string what;         // "changed", "added", "removed", "replaced", "moved", "linked", ...
  bool restored = false;    // it is what it was again
  std::string kept;         // where lies now what stood there instead; "" = there was nothing
  std::string failure;      // why it is not restored, if the system said why
  std::string why = {};     // what was wrong with it, where that is not plain
  bool repository = false;  // a git repository was damaged: the call failed, whatever came back
};

// A path that a mount of the command's own view kept as it is (supervisor/guard/protected_mounts.h).
struct SealedPath {
  std::string path;
  bool read_only = false;  // with all that is in it; else it is only neither moved nor removed
  std::string reason;      // as policy::ProtectedPath has it
  const policy::HostFile* host = nullptr;
  bool operator==(const SealedPath&) const = default;
};

}  // namespace pa
