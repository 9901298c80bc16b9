// PlanView, PlanOwnMounts: turn grants into the mounts of a view (sandbox/view.h), as plain values.
//
//    View view = PlanView({.grants = ..., .names = ..., .places = ...});     // once per policy
//    std::vector<Mount> own = PlanOwnMounts(view, confinement.paths);        // for each command
//
// A granted path is visible under its own name and by the symlinks that lead to it; nothing else is
// visible. Landlock decides whether it can be read or executed. A read-only mount cannot be changed
// in any way, modes and times included.
#pragma once

#include <string>
#include <vector>

#include "sandbox/confinement.h"
#include "sandbox/prepared.h"

namespace pa::sandbox {

// The input of a view: what all commands of a policy have in common. All paths are absolute.
struct ViewOrder {
  std::vector<PathGrant> grants;
  std::vector<std::string> names;   // their symlinks are kept, whether or not they lead to a grant
  std::vector<std::string> places;  // where commands will find directories of their own
};

struct View {
  std::vector<Mount> mounts;        // in an order in which they can be made
  std::vector<PathIdentity> found;  // identities of the sources of the mounts, in order
  bool operator==(const View&) const = default;
};

// Reads the file system, changes nothing. /proc, /tmp and /dev/shm are private to each command:
// grants of them mean the private ones.
View PlanView(const ViewOrder& order);

// Whether the sources of the view are still the files that it was made of.
bool StillValid(const View& view);

// The mounts for what `grants` name and the view does not show, or does not show writable. If they
// are made in this order, no mount hides what the view or an earlier mount shows.
std::vector<Mount> PlanOwnMounts(const View& view, const std::vector<PathGrant>& grants);

// Whether `path` can be reached in a view of these mounts: whether its names, and the symlinks on
// its way, exist there. If Landlock grants a path to which only a symlink outside the view leads,
// that symlink cannot be used to reach it.
bool CanBeNamed(const std::vector<Mount>& mounts, const std::string& path);

}  // namespace pa::sandbox
