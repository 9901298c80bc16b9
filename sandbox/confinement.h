// Confinement: what a command may touch, as plain values. Data only; nothing here calls the kernel.
//
//    Confinement c;
//    c.paths.push_back({"/usr", Access::kRead | Access::kExecute, "system"});
//    c.paths.push_back({"/srv/project", kReadWriteExecute, "working directory"});
//    Result<PreparedSandbox> prepared = PrepareLandlock(c);   // sandbox/prepared.h
//    Enforcement report = Assess(c, limits, DetectKernel());   // sandbox/enforcement.h
//
// The default is the strictest: no path, no network, the `build` system calls. A relaxation is a
// named value of its own type with its line in the enforcement report, never a bool.
#pragma once

#include <string>
#include <vector>

#include "sandbox/values.h"

namespace pa::sandbox {

// Between the moment when a path is looked at and the moment when it is granted, an agent can
// replace a directory by a symlink; the grant would then be of the target of the symlink.
enum class Symlinks {
  kFollow,  // paths of the administrator and of the user: /bin, a dotfile
  kRefuse,  // paths where commands may write; they were resolved when they were looked at
};

// How often another file takes the place of the granted one.
enum class Replaced {
  kAnytime,
  // Only whoever administers the system replaces it: /usr/lib, /etc/passwd.
  kRarely,
};

struct PathGrant {
  std::string path;  // absolute; a path that does not exist is skipped, never created
  Access access = Access::kNone;
  std::string reason;  // "system", "working directory", "policy filesystem.read[0]"
  Symlinks symlinks = Symlinks::kFollow;
  Replaced replaced = Replaced::kAnytime;
  bool operator==(const PathGrant&) const = default;
};

// An entry in the view of a command that has namespaces (sandbox/view.h, sandbox/view_plan.h).
struct Mount {
  MountKind kind = MountKind::kReadOnly;
  std::string source;
  std::string target;
  bool operator==(const Mount&) const = default;
};

struct Confinement {
  std::vector<PathGrant> paths;
  Network network = Network::kNone;
  SeccompProfile seccomp = SeccompProfile::kBuild;
  Namespaces namespaces = Namespaces::kOff;
  bool operator==(const Confinement&) const = default;
};

}  // namespace pa::sandbox
