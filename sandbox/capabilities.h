// DropCapabilities: root inside the sandbox owns files, and that is all. Freestanding.
//
// Landlock denies mount even to root, but not raw sockets, chroot, device configuration or the
// clock, and CAP_PERFMON reads the environment and the memory map of other processes past it (seen
// on 6.18). Root keeps four capabilities, which only say whose files it may touch, so that `make
// install` and git behave as root expects within the paths that Landlock grants:
//
//   CAP_CHOWN         give files away: install -o, tar
//   CAP_DAC_OVERRIDE  read and write files of other users
//   CAP_FOWNER        chmod, utimes and sticky directories of files of other users
//   CAP_FSETID        keep the setgid bit of a directory when its mode or group changes
//
// No SECBIT_NOROOT: with it every exec would take the four away again. It is not needed either: the
// bounding set is the ceiling of what exec can give to root, and under no_new_privs exec gives
// nothing that the process did not have.
#pragma once

#include "base/sys_error.h"

namespace pa::sandbox {

// As root (effective uid 0, also of a user namespace) keeps the four, as anybody else none. Set
// no_new_privs before exec: where CAP_SETPCAP is missing the bounding set cannot be narrowed, and
// no_new_privs is then what keeps exec from restoring the rest.
SysResult<void> DropCapabilities();

}  // namespace pa::sandbox
