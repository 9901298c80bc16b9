// Opens one component in a directory, however hostile the directory is: never through a symlink,
// and for reading nothing but a regular file. Freestanding.
//
//    SysResult<Opened> seen = OpenBeneath(at, name, O_PATH);
//    SysResult<UniqueFd> file = OpenToRead(at, name, seen->status);
#pragma once

#include <sys/stat.h>

#include "base/sys_error.h"
#include "base/unique_fd.h"

namespace pa::worker {

struct Opened {
  UniqueFd fd;
  struct stat status = {};
};

// `mode`: only with O_CREAT. ELOOP: it is a symlink.
SysResult<Opened> OpenBeneath(int at, const char* name, int flags, mode_t mode = 0);

// How often to look again at a file that another program keeps replacing.
inline constexpr int kLooks = 32;

// Opens for reading the file whose status, by an O_PATH descriptor, is `seen`: opening a device can
// make it act, and opening a FIFO blocks. No descriptor if it is not a regular file. ESTALE: the
// name stands for another file by now.
SysResult<UniqueFd> OpenToRead(int at, const char* name, const struct stat& seen);

}  // namespace pa::worker
