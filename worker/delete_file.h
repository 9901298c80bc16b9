// DeleteFile: moves a file or a directory beneath the working directory, with everything in it, to
// another directory, which DeleteHeader names (worker/file_header.h). Deleting a symlink moves the
// link, not its target. Freestanding.
#pragma once

#include "base/sys_error.h"
#include "worker/place.h"

namespace pa::worker {

// `path` is relative; no component of it is `.` or `..`, and none but the last is a symlink. stdin
// has a DeleteHeader and the other directory; the entry moves there under the name `content`, and
// nothing is replaced. If the other directory is made here, it also gets a .gitignore, so that git
// ignores it. stdout gets the names in a directory, relative to it, each with a NUL, and a
// DeleteReply. ENOENT: the entry does not exist. ENOTEMPTY: it is a directory with something in it,
// and the header does not say `recursive`. EXDEV: the other directory is on another file system, or
// the kernel moves nothing between directories here (Landlock ABI 1). `to_sync` receives both
// directories if they are to be synced: a failed sync does not mean that the move failed.
SysResult<void> DeleteFile(const char* path, ToSync& to_sync);

}  // namespace pa::worker
