// OpenBeneath: opens a path beneath a directory. Symlinks and `..` on the way are followed as long
// as they stay within the directory (openat2(2), RESOLVE_BENEATH).
//
//    const UniqueFd fd = OpenBeneath(root, "src/../link/a.c", O_PATH);
//    if (!fd) ... // errno: EXDEV = leads outside, EAGAIN = something is renamed all the time
#pragma once

#include "base/unique_fd.h"

namespace pa {

// Close-on-exec. Never follows magic links. While anything in the system is renamed or mounted, the
// kernel cannot verify a `..` and returns EAGAIN; the call is then retried for some milliseconds.
UniqueFd OpenBeneath(int at, const char* path, int flags);

// Follows no symlink (ELOOP) and, unless `at` is AT_FDCWD, does not leave `at` (EXDEV). With O_PATH
// and O_NOFOLLOW the last component may be a symlink, which is then opened itself. Also works where
// an old seccomp filter of a container refuses openat2(2).
UniqueFd OpenPlain(int at, const char* path, int flags);

}  // namespace pa
