// KeepMetadata: gives a file that takes the place of another one the other's metadata.
// Freestanding.
//
//    PA_TRY_VOID(KeepMetadata(old.get(), was, fd.get(), is, "Makefile"));   // before the rename
//
// Not the content, nor the times.
#pragma once

#include <sys/stat.h>

#include "base/sys_error.h"

namespace pa {

// Copies owner, group, mode and extended attributes of `from` to `to`, as far as our rights and the
// file system allow. `was` and `is` are the status of the two files, `name` is for errors. A part
// that cannot be copied never widens access: without the owner there is no set-user-ID bit, without
// the group there is no set-group-ID bit, and the new file's group gets only the rights that
// everybody has.
SysResult<void> KeepMetadata(int from, const struct stat& was, int to, const struct stat& is,
                             const char* name);

}  // namespace pa
