// RaiseLoopback: in a network namespace of its own a process has 127.0.0.1 and ::1, and nobody else
// is there. A new namespace has the interface, but down. Freestanding.
#pragma once

#include "base/sys_error.h"

namespace pa::sandbox {

// Needs CAP_NET_ADMIN in the user namespace that owns the network namespace.
SysResult<void> RaiseLoopback();

}  // namespace pa::sandbox
