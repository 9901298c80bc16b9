// DropCapabilities: leaves root inside the sandbox the rights of an owner of files and nothing
// else. Freestanding.
//
// Landlock denies mount even to root. It does not deny raw sockets, chroot, device configuration or
// the clock, and with CAP_PERFMON a process can read the environment and the memory map of other
// processes in spite of Landlock (seen on 6.18). Root keeps four capabilities, which only decide
// whose files it may touch, so that `make install` and git behave as root expects within the paths
// that Landlock grants:
//
//    CAP_CHOWN         give files away: install -o, tar
//    CAP_DAC_OVERRIDE  read and write files of other users
//    CAP_FOWNER        chmod, utimes and sticky directories of files of other users
//    CAP_FSETID        keep the setgid bit of a directory when its mode or group changes
//
// SECBIT_NOROOT is not set: with it every exec would take the four away again. It is not needed
// either: exec can give root no more than the bounding set, and under no_new_privs exec gives
// nothing that the process did not have.
#pragma once

#include "base/sys_error.h"

namespace pa::sandbox {

// Root (effective uid 0, also of a user namespace) keeps the four; any other user keeps none. Set
// no_new_privs before exec: without CAP_SETPCAP the bounding set cannot be narrowed, and then only
// no_new_privs keeps exec from restoring the rest.
SysResult<void> DropCapabilities();

}  // namespace pa::sandbox
