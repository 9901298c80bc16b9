// The private TMPDIR after its command: empty again, whatever was made in it. Freestanding.
//
// Called when the tree is dead, so nothing changes names while we work. Hostile contents all the
// same: symlinks out (never followed), directories of mode 000, trees deeper than any stack or
// descriptor table. Depth is undone by moving: a directory that is not empty goes up to the top
// under a new name, so there are never more than two open descriptors and no recursion.
#pragma once

namespace pa::worker {

// True if `path` is now an empty directory with mode 0700.
bool EmptyDirectory(const char* path);

// Removes the empty directory, then its parent if that is empty too: nobody else will, because the
// supervisor is dead.
void RemoveWithParent(const char* path);

}  // namespace pa::worker
