// UserOfPeer: whose process is at the other end of a TCP connection over this machine's loopback.
//
//    Result<uid_t> user = UserOfPeer(accepted.get());
#pragma once

#include <sys/types.h>

#include "base/error.h"

namespace pa {

// Of the process that made the other socket, as the kernel tells by NETLINK_SOCK_DIAG
// (sock_diag(7)). `connection`: a connected socket of AF_INET. ENOENT: the other socket is gone.
// EPROTONOSUPPORT: this kernel cannot tell.
Result<uid_t> UserOfPeer(int connection);

}  // namespace pa
