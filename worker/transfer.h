// Reads and writes of all bytes, in as many system calls as that takes. Freestanding.
#pragma once

#include <cstddef>

#include "base/sys_error.h"

namespace pa::worker {

// Reads up to `size` bytes, as they come; 0 at the end. Here and below, errors name `name`.
SysResult<std::size_t> ReadSome(int fd, void* into, std::size_t size, const char* name);

// ENODATA: the input ends before `size` bytes.
SysResult<void> ReadAll(int fd, void* into, std::size_t size, const char* name);

SysResult<void> WriteAll(int fd, const void* from, std::size_t size, const char* name);

// stdin comes from the supervisor, and stdout goes to it.
SysResult<void> ReadStdin(void* into, std::size_t size);
SysResult<void> WriteStdout(const void* from, std::size_t size);

}  // namespace pa::worker
