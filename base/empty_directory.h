// EmptyDirectory: empties a private TMPDIR after its command has ended, whatever the command made
// in it. Freestanding.
//
// No other process may use the directory meanwhile, so names do not change during the work. Its
// contents are hostile all the same: symlinks that lead out (never followed), directories of mode
// 000, trees deeper than any stack or descriptor table. Depth is removed by moving: a subdirectory
// that is not empty moves to the top under a new name, so there are never more than two open
// descriptors and no recursion. Millions of files take long, so the work has a time budget; a later
// call continues it.
//
//    SysResult<bool> emptied = EmptyDirectory(AT_FDCWD, path, 500);
//    if (emptied && !*emptied) ...     // the time is used up: call it again
#pragma once

#include <cstdint>

#include "base/sys_error.h"

namespace pa {

// True: `path`, which must not be a symlink, is now an empty directory of mode 0700. False: the
// time budget is used up. `at`: the directory that a relative path starts from (openat(2)), or
// AT_FDCWD. `at_least`: the number of entries that are handled regardless of time, so that a small
// directory is emptied even where this process has to wait long for a processor.
SysResult<bool> EmptyDirectory(int at, const char* path, std::uint64_t budget_ms,
                               std::uint64_t at_least = 0);

// The same for a directory that was opened (O_RDONLY) before the command started: it is emptied
// wherever it is now and whatever its name refers to now. `name` is for the error.
SysResult<bool> EmptyHeldDirectory(int directory, const char* name, std::uint64_t budget_ms,
                                   std::uint64_t at_least = 0);

}  // namespace pa
