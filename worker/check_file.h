// CheckFile: whether a file of the working directory is still what the supervisor knows of it.
// Freestanding.
//
//    SysResult<void> same = CheckFile("Makefile", digest);
//
// The supervisor knows make's targets by the SHA-256 of the Makefile's text. The worker compares
// it right before make reads the file, so that nobody has to read it for the supervisor first.
#pragma once

#include <string_view>

#include "base/sys_error.h"

namespace pa::worker {

// `name` is one component and not a symlink; `digest`: the 32 bytes of a SHA-256. ESTALE: the file
// has another text, or is no regular file. Works under the seccomp program of a command, which has
// no openat2(2).
SysResult<void> CheckFile(const char* name, std::string_view digest);

}  // namespace pa::worker
