// DeleteFile: something beneath the working directory, and all that is in it, goes to another
// directory. Freestanding.
#pragma once

#include "base/sys_error.h"
#include "worker/place.h"

namespace pa::worker {

// `path` is relative; no component of it is `.` or `..`, none but the last a symlink. A
// DeleteHeader and a directory come from stdin; there it gets the name `content`, and nothing is
// replaced. A directory that is made here gets a .gitignore, too, that keeps it from git. On stdout
// come the names of what is in it, relative to it, each with a NUL, and a DeleteReply. ENOENT: it
// is not there; ENOTEMPTY: it is a directory with something in it, and that was not meant; EXDEV:
// the other directory is on another file system, or the kernel moves nothing between directories
// here (Landlock ABI 1). `to_sync` gets both directories, if they are to be synced: an error of
// that is no error of the moving.
SysResult<void> DeleteFile(const char* path, ToSync& to_sync);

}  // namespace pa::worker
