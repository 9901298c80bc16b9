// From grants to the mounts of a view (sandbox/view.h), as plain values.
//
//   View view = PlanView({.grants = ..., .names = ..., .places = ...});     // once a policy
//   std::vector<Mount> own = PlanOwnMounts(view, confinement.paths);        // each command
//
// A path that is granted is there, under its own name and with the symlinks that lead to it;
// nothing else is. Whether it can be read or executed is Landlock's to decide; what is mounted
// read-only cannot be changed in any way, modes and times among it.
#pragma once

#include <string>
#include <vector>

#include "sandbox/confinement.h"
#include "sandbox/prepared.h"

namespace pa::sandbox {

// What the commands of a policy have in common. All paths are absolute.
struct ViewOrder {
  std::vector<PathGrant> grants;
  std::vector<std::string> names;   // whose symlinks are kept, whether or not they lead to a grant
  std::vector<std::string> places;  // where commands will find directories of their own
};

struct View {
  std::vector<Mount> mounts;        // in an order in which they can be made
  std::vector<PathIdentity> found;  // what the sources of the mounts were, in order
  bool operator==(const View&) const = default;
};

// Reads the file system, changes nothing. /proc, /tmp and /dev/shm are each command's own: grants
// of them mean those.
View PlanView(const ViewOrder& order);

// Whether what stands at the sources is still what the view was made of.
bool StillValid(const View& view);

// What `grants` name and the view does not show, or does not show writable. In the order in which
// they are made, no mount hides what the view or an earlier one shows.
std::vector<Mount> PlanOwnMounts(const View& view, const std::vector<PathGrant>& grants);

// Whether `path` leads anywhere in a view of these mounts: its names and the symlinks on its way
// are there. What Landlock grants and a symlink outside the view leads to cannot be reached by that
// symlink.
bool CanBeNamed(const std::vector<Mount>& mounts, const std::string& path);

}  // namespace pa::sandbox
