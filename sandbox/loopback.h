// RaiseLoopback: brings up the loopback interface of a new network namespace, where a process has
// 127.0.0.1 and ::1 and reaches nobody else. A new namespace has the interface, but it is down.
// Freestanding.
//
//    PA_TRY_VOID(RaiseLoopback());   // in a process that was cloned with CLONE_NEWNET
#pragma once

#include "base/sys_error.h"

namespace pa::sandbox {

// Needs CAP_NET_ADMIN in the user namespace that owns the network namespace.
SysResult<void> RaiseLoopback();

}  // namespace pa::sandbox
