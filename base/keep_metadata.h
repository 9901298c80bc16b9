// KeepMetadata: a file that takes another one's place gets what that one had besides its content.
// Freestanding.
#pragma once

#include <sys/stat.h>

#include "base/sys_error.h"

namespace pa {

// Owner, group, mode and extended attributes of `from`, as far as we may and the file system knows
// them; `was` and `is` are their status, `name` is for errors. Nobody gains by what cannot be kept:
// without the owner no set-user-ID, without the group no set-group-ID, and for the other group only
// what everybody may.
SysResult<void> KeepMetadata(int from, const struct stat& was, int to, const struct stat& is,
                             const char* name);

}  // namespace pa
