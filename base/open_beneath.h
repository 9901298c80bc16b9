// OpenBeneath: what lies beneath a directory, wherever symlinks and `..` on the way lead within it
// (openat2(2), RESOLVE_BENEATH).
//
//   const UniqueFd fd = OpenBeneath(root, "src/../link/a.c", O_PATH);
//   if (!fd) ... errno: EXDEV leads outside, EAGAIN somebody renames without a pause
#pragma once

#include "base/unique_fd.h"

namespace pa {

// Close-on-exec. Never through magic links. While anything at all is renamed or mounted, the kernel
// cannot be sure of a `..` and gives up (EAGAIN); then it is tried again, for some milliseconds.
UniqueFd OpenBeneath(int at, const char* path, int flags);

// Through no symlink at all (ELOOP), and with a directory to begin at no further than it (EXDEV);
// with O_PATH and O_NOFOLLOW the last component may be one, and is what is opened. Works where a
// container's old filter refuses openat2(2).
UniqueFd OpenPlain(int at, const char* path, int flags);

}  // namespace pa
