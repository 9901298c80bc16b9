// WriteFile: a file beneath the working directory, old or new at every moment and after every
// death. Freestanding.
//
// The content goes to a temporary file beside, which gets mode, owner and extended attributes of
// what it replaces; then its name is changed (rename(2)). The temporary file's name is made of the
// other, and whoever has it open holds its lock (flock(2)): so two who write one file take turns,
// each finds out whether the file is still what it expected, and what a dead one left behind is
// known as such.
#pragma once

#include "base/sys_error.h"
#include "worker/place.h"

namespace pa::worker {

// `path` is relative; no component of it is `.`, `..` or a symlink (ELOOP). A WriteHeader and the
// content come from stdin. EEXIST: it is there, and should not; ESTALE: it has other content than
// expected (of both, a WriteReply on stdout); ENOENT: it is not there, or a directory on the way;
// EACCES also: it has no permission to be written for anybody; EWOULDBLOCK: another one had it at
// work for more than 8 s. Another name of it (link(2)) keeps the old content. `to_sync` gets where
// it lies, if that is to be synced: an error of that is no error of the writing.
SysResult<void> WriteFile(const char* path, ToSync& to_sync);

// Removes what a WriteFile of `path` left that was killed; nothing that another one has at work.
SysResult<void> RemoveTemp(const char* path);

}  // namespace pa::worker
