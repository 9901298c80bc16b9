// ReadFile: writes one file of the working directory to stdout, with a FileHeader before it.
// Freestanding.
#pragma once

#include <cstdint>

#include "base/sys_error.h"

namespace pa::worker {

// `name` is one component and not a symlink (ELOOP). Only a regular file is opened: opening a
// device can make it act, and opening a FIFO blocks. `most`: bytes of it, from its beginning; 0:
// all.
SysResult<void> ReadFile(const char* name, std::uint64_t most);

}  // namespace pa::worker
