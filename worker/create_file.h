// CreateFile: a new file beneath the working directory, filled from stdin. Freestanding.
#pragma once

#include "base/sys_error.h"

namespace pa::worker {

// `name` is one component. Never replaces and never follows a symlink (EEXIST). The content is read
// to its end first, so that a name appears only with all of it behind; what cannot be written is
// removed again.
SysResult<void> CreateFile(const char* name);

}  // namespace pa::worker
