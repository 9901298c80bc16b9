// Bytes to and from a descriptor, all of them, whatever part the kernel takes at once.
// Freestanding.
#pragma once

#include <cstddef>

#include "base/sys_error.h"

namespace pa::worker {

// Up to `size`, as they come; 0 at the end. Errors name `name`, here and below.
SysResult<std::size_t> ReadSome(int fd, void* into, std::size_t size, const char* name);

// ENODATA: it ends before.
SysResult<void> ReadAll(int fd, void* into, std::size_t size, const char* name);

SysResult<void> WriteAll(int fd, const void* from, std::size_t size, const char* name);

// What the supervisor sends, and what it is told.
SysResult<void> ReadStdin(void* into, std::size_t size);
SysResult<void> WriteStdout(const void* from, std::size_t size);

}  // namespace pa::worker
