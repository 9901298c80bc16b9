// ReadFile: one file of the working directory to stdout, a FileHeader before it. Freestanding.
#pragma once

#include "base/sys_error.h"

namespace pa::worker {

// `name` is one component, no symlink (ELOOP). Nothing but a regular file is opened: a device may
// do things when it is, and a FIFO waits.
SysResult<void> ReadFile(const char* name);

}  // namespace pa::worker
