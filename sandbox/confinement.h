// Confinement: what a command may touch, as plain values. Data only; nothing here talks to the
// kernel.
//
//   Confinement c;
//   c.paths.push_back({"/usr", Access::kRead | Access::kExecute, "system"});
//   c.paths.push_back({"/srv/project", kReadWriteExecute, "working directory"});
//   Result<PreparedSandbox> sandbox = Prepare(c);     // sandbox/prepared.h
//   Enforcement report = Assess(c, ProbeKernel());    // sandbox/enforcement.h
//
// The default is the strictest: no path, no network, the `build` system calls. A relaxation is a
// named value of its own type with its line in the enforcement report, never a bool.
#pragma once

#include <string>
#include <vector>

#include "sandbox/values.h"

namespace pa::sandbox {

// Between a look at a path and its grant an agent can put a symlink where a directory was, and the
// grant would be of what that leads to.
enum class Symlinks {
  kFollow,  // the administrator's and the user's own: /bin, a dotfile
  kRefuse,  // what lies where commands may write; the path was resolved when it was looked at
};

// When another file can come to stand where the granted one was.
enum class Replaced {
  kAnytime,
  kRarely,  // only by whoever administers the system: /usr/lib, /etc/passwd
};

struct PathGrant {
  std::string path;  // absolute; a path that does not exist is skipped, never created
  Access access = Access::kNone;
  std::string reason;  // "system", "working directory", "policy filesystem.read[0]"
  Symlinks symlinks = Symlinks::kFollow;
  Replaced replaced = Replaced::kAnytime;
  bool operator==(const PathGrant&) const = default;
};

// A place in the view of a command that has namespaces (sandbox/view.h, sandbox/view_plan.h).
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
