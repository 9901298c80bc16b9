// User namespaces: the right to make the others without being root outside. Freestanding.
//
// Whoever makes one has every capability inside and none outside any more. Ids stay what they are:
// an ordinary user maps the own uid and gid alone (user_namespaces(7)), root all that there are
// where we are, so that files belong to whom they belong.
#pragma once

#include "base/sys_error.h"

namespace pa::sandbox {

// A user namespace and a mount namespace that it owns, for the calling process; it must be alone in
// its thread group. The process is undumpable afterwards. EPERM, ENOSPC, EACCES: not granted here.
SysResult<void> EnterUserAndMountNamespaces();

// As an ordinary user, one more: the count of processes (RLIMIT_NPROC) begins anew inside (since
// Linux 5.14), and what the namespace above owns, mounts among it, is out of reach for good.
// Nothing for root, whom that limit does not bind. `outer_root`: a descriptor of a root directory
// with a proc beneath it that knows us.
SysResult<void> EnterOwnUserNamespace(int outer_root);

}  // namespace pa::sandbox
