// RefuseRings: from now on io_uring_setup(2) is ENOSYS in this process, as on a kernel without
// io_uring. A process that confines itself by a list of system calls calls it before it makes its
// event loop: libuv makes a ring with the loop since 1.45, and aborts when io_uring_enter(2) is
// refused later (uv__epoll_ctl_flush in src/unix/linux.c). A ring is refused because it does what
// other system calls do, and no filter sees it.
//
//    PA_TRY_VOID(RefuseRings());
//    Loop loop;
//    PA_TRY_VOID(CheckNoRings());
#pragma once

#include "base/error.h"

namespace pa::sandbox {

// For this thread, for those that it makes later, and for good. Sets no_new_privs.
Result<void> RefuseRings();

// EBUSY: this process has a ring, which would reach around a list of system calls.
Result<void> CheckNoRings();

}  // namespace pa::sandbox
