// ProtectedMounts: what a command with a view of its own cannot change in the first place, of what
// the guard watches (supervisor/guard/protected_paths_guard.h).
//
//   execution.sealed = SealedPaths(*watch);
//   spec.mounts += MountsOf(execution.sealed);   // after what they lie in
//
// A mount point can neither be renamed nor removed, so a directory is pinned by mounting it on
// itself, and with each on the way pinned nobody gets around a read-only one by moving what is
// above. Only on what is there: no name is ever made to protect one. What is not there, and
// symlinks, are left to the guard.
#pragma once

#include <span>
#include <vector>

#include "sandbox/confinement.h"
#include "supervisor/guard/protected_change.h"
#include "supervisor/guard/protected_paths_guard.h"

namespace pa {

std::vector<SealedPath> SealedPaths(const ProtectedPathsGuard::Found& found);
std::vector<sandbox::Mount> MountsOf(std::span<const SealedPath> sealed);

}  // namespace pa
