// PreparedSandbox: the parts of a Confinement that are made once and used by many requests.
//
//    Result<SeccompProgram> program = CompileSeccomp(SeccompProfile::kBuild, Network::kNone, abi);
//    Result<PreparedSandbox> prepared = PrepareLandlock(confinement);
//    spec.seccomp_program = **program;        // loaded by the worker, never built there
//    // the worker gets prepared->landlock_ruleset as worker::kRulesetFd
//
// A Landlock ruleset is a descriptor by which any number of processes can restrict themselves
// (landlock_restrict_self(2)). It pins the granted files and directories by inode: if another one
// takes the place of a granted path, a new ruleset is needed. StillValid() tells whether that has
// happened.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "sandbox/confinement.h"

namespace pa::sandbox {

// The finished BPF program (struct sock_filter[]) as bytes, tree-ordered.
using SeccompProgram = std::shared_ptr<const std::string>;
Result<SeccompProgram> CompileSeccomp(SeccompProfile profile, Network network, int landlock_abi,
                                      Sight sight = Sight::kHost);

struct PathIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  // 0: it did not exist
  bool operator==(const PathIdentity&) const = default;
};

struct PreparedSandbox {
  Confinement confinement;
  UniqueFd landlock_ruleset;             // empty if the kernel has no Landlock
  std::vector<PathIdentity> identities;  // of confinement.paths, in order
  int landlock_abi = 0;

  // Whether every granted path is still the file that was granted. Paths that are rarely replaced
  // are looked at once a second: until then a command cannot access the new file, which is the safe
  // side.
  bool StillValid(std::chrono::steady_clock::time_point now);
  std::chrono::steady_clock::time_point looked_at;  // when all of them were looked at
};
// A path that cannot be reached is skipped: the command could not reach it either.
Result<PreparedSandbox> PrepareLandlock(const Confinement& confinement);
// As an older kernel would do it; `landlock_abi` 0 makes no ruleset.
Result<PreparedSandbox> PrepareLandlock(const Confinement& confinement, int landlock_abi);

}  // namespace pa::sandbox
