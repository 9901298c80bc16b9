// LoadSeccomp: confines the calling thread with a finished BPF program. Launcher and child do this
// as their last step, because the program may refuse what earlier steps need. Needs no_new_privs or
// CAP_SYS_ADMIN. Freestanding.
//
//    SysResult<void> done = LoadSeccomp(program);   // for good
//
// CompileSeccomp (sandbox/prepared.h) makes the program once, when the policy loads: building one
// with libseccomp costs more than everything else that the worker does.
#pragma once

#include <string_view>

#include "base/sys_error.h"

namespace pa::sandbox {

// `program`: struct sock_filter[] as bytes, 1 to 4096 instructions; anything else is EINVAL.
SysResult<void> LoadSeccomp(std::string_view program);

}  // namespace pa::sandbox
