// User namespaces: they give an ordinary user the right to make the other namespaces. Freestanding.
//
//    PA_TRY_VOID(EnterUserAndMountNamespaces());    // the launcher, once
//    PA_TRY_VOID(EnterNamespacesOf(network));       // or, beside a command that runs
//    PA_TRY_VOID(EnterOwnUserNamespace(root_fd));   // each worker, when its view is complete
//
// A process that enters a new user namespace has every capability inside it and none outside any
// more. Ids keep their numbers: an ordinary user maps only its own uid and gid
// (user_namespaces(7)); root maps every id that exists in its own namespace, so that files keep
// their owners.
#pragma once

#include "base/sys_error.h"

namespace pa::sandbox {

// Moves the calling process, which must be single-threaded, into a new user namespace and a mount
// namespace owned by it. Afterwards the process is undumpable. EPERM, ENOSPC, EACCES: the system
// does not grant them.
SysResult<void> EnterUserAndMountNamespaces();

// The same for the user namespace to which `network` belongs, which a process of ours has made, and
// the network namespace itself: the calling process is then beside the commands in it, with a mount
// namespace of its own. `network`: a network namespace (namespaces(7)). EPERM: it is not ours.
SysResult<void> EnterNamespacesOf(int network);

// For an ordinary user, enters one more user namespace: the count of processes (RLIMIT_NPROC)
// starts anew inside it (since Linux 5.14), and objects of the namespace above, mounts among them,
// are out of reach for good. Does nothing for root, whom that limit does not bind. `outer_root`: a
// descriptor of a root directory with a proc beneath it that shows this process.
SysResult<void> EnterOwnUserNamespace(int outer_root);

}  // namespace pa::sandbox
