// ProtectedMounts: mounts that keep a command with a view of its own from changing protected paths
// in the first place. The guard watches these paths all the same
// (supervisor/guard/protected_paths_guard.h).
//
//    execution.sealed = SealedPaths(*watch->found);
//    // to be mounted after the trees that contain these paths
//    std::vector<sandbox::Mount> mounts = MountsOf(execution.sealed);
//
// A mount point can neither be renamed nor removed, so a directory is pinned by mounting it on
// itself. Each directory on the way to a read-only one is pinned, so nobody gets around it by
// moving a parent directory. Only existing files and directories are mounted: no name is ever made
// to protect it. Absent paths and symlinks are left to the guard.
#pragma once

#include <span>
#include <vector>

#include "sandbox/confinement.h"
#include "supervisor/guard/protected_change.h"
#include "supervisor/guard/protected_paths_guard.h"

namespace pa {

std::vector<SealedPath> SealedPaths(const GuardedState& found);
std::vector<sandbox::Mount> MountsOf(std::span<const SealedPath> sealed);

}  // namespace pa
