// EmptyDirectory: a private TMPDIR after its command is empty again, whatever was made in it.
// Freestanding.
//
// Nothing else may be at work in it, so nothing changes names while we work. Hostile contents all
// the same: symlinks out (never followed), directories of mode 000, trees deeper than any stack or
// descriptor table. Depth is undone by moving: a directory that is not empty goes up to the top
// under a new name, so there are never more than two open descriptors and no recursion. Millions of
// files take their time, so there is a bound to it, after which another call goes on.
#pragma once

#include <cstdint>

#include "base/sys_error.h"

namespace pa {

// True: `path`, which must be no symlink, is now an empty directory with mode 0700. False: the time
// is over. `at`: where a relative path begins (openat(2)); else AT_FDCWD. `at_least`: before so
// many entries were seen no time is over; who must wait long for a processor still leaves nothing
// of a small directory.
SysResult<bool> EmptyDirectory(int at, const char* path, std::uint64_t budget_ms,
                               std::uint64_t at_least = 0);

// The same of a directory that was opened before whatever worked in it (O_RDONLY), wherever it is
// now and whatever stands under its name. `name` is for the error.
SysResult<bool> EmptyHeldDirectory(int directory, const char* name, std::uint64_t budget_ms,
                                   std::uint64_t at_least = 0);

}  // namespace pa
