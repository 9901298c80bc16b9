// WriteFile: writes a file beneath the working directory atomically: at every moment, and after
// every death of the worker, the file has either the old or the new content. Freestanding.
//
// The content goes to a temporary file in the same directory. The temporary file gets mode, owner
// and extended attributes of the file that it replaces, and then its name (rename(2)). Its own name
// is derived from the file's name, and the worker that has it open holds its lock (flock(2)). So
// two writers of one file take turns, each of them finds out whether the file is still as expected,
// and a temporary file that a dead worker left is recognised.
#pragma once

#include "base/sys_error.h"
#include "worker/place.h"

namespace pa::worker {

// `path` is relative; no component of it is `.`, `..` or a symlink (ELOOP). stdin has a WriteHeader
// and the content. EEXIST: the file exists and should not. ESTALE: it has other content than
// expected. (In both cases stdout gets a WriteReply.) ENOENT: the file, or a directory on the way,
// does not exist. EACCES: also if the file's mode lets nobody write. EWOULDBLOCK: another worker
// has been writing it for more than 8 s. Another name of the file (link(2)) keeps the old content.
// `to_sync` receives the directory of the file if it is to be synced: a failed sync does not mean
// that the write failed.
SysResult<void> WriteFile(const char* path, ToSync& to_sync);

// Removes the temporary file that a killed WriteFile of `path` left; never one that another worker
// is writing.
SysResult<void> RemoveTemp(const char* path);

}  // namespace pa::worker
