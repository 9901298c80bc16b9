// Opening one component of a directory, however hostile: never through a symlink, and nothing but a
// regular file for its content. Freestanding.
#pragma once

#include <sys/stat.h>

#include "base/sys_error.h"
#include "base/unique_fd.h"

namespace pa::worker {

struct Opened {
  UniqueFd fd;
  struct stat status = {};
};

// `mode` with O_CREAT alone. ELOOP: a symlink.
SysResult<Opened> OpenBeneath(int at, const char* name, int flags, mode_t mode = 0);

// How often to look at a file that another program replaces at the same moment, as fast as it can.
inline constexpr int kLooks = 32;

// What `seen`, by O_PATH, was: to open a device can be an order to it, and a FIFO waits. No
// descriptor if it is no regular file; ESTALE: something else has its name by now.
SysResult<UniqueFd> OpenToRead(int at, const char* name, const struct stat& seen);

}  // namespace pa::worker
