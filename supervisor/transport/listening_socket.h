// ListeningSocket: a socket on which a server listens, of TCP or Unix, ours or systemd's.
//
//    Result<std::vector<ListeningSocket>> passed = TakePassedSockets(environment);
//    Result<ListeningSocket> ours = OpenListeningSocket(*ParseListenAddress("unix:/run/x.sock"));
//    server.Listen(std::move(ours->fd));
//    ...
//    RemoveSocketFile(*ours);        // at the end
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/transport/listen_address.h"

namespace pa {

struct ListeningSocket {
  UniqueFd fd;
  ListenAddress address;  // as it is bound: with the port that was chosen
  // The file that was made for a Unix socket of ours; 0: none.
  dev_t device = 0;
  ino_t inode = 0;
};

// Of kUnix or kTcp. The file of a Unix socket has mode 0600. A file that is there already is
// replaced if it is a socket of this user on which nobody listens; else EADDRINUSE or EEXIST.
// EPERM: somebody else can replace files in its directory, and would be the server to every client.
Result<ListeningSocket> OpenListeningSocket(const ListenAddress& address);

// Removes its file, if it is still the one that was made.
void RemoveSocketFile(const ListeningSocket& socket);

// The sockets that systemd has passed to this process, as its environment says (sd_listen_fds(3)).
// Call it once. An error: there are none, or one is no stream socket that listens.
Result<std::vector<ListeningSocket>> TakePassedSockets(
    const std::map<std::string, std::string>& environment);

// The other side: connects to a server at kUnix or kTcp. EPERM: who listens on the Unix socket is
// neither this user nor root. ETIMEDOUT: `patience` was over; 0: there is no end to it.
Result<UniqueFd> ConnectTo(const ListenAddress& address, std::chrono::milliseconds patience = {});

}  // namespace pa
