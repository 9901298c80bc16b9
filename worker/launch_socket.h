// LaunchSocket: the launcher's end of the socket on which the supervisor asks for workers. With it
// the supervisor can have a worker ready that was forked while nobody was waiting for it.
//
//    supervisor -> launcher   kLaunchMagic, then what all its workers have in common (LaunchSpec),
//                             and, optionally, the network namespace that they share
//    supervisor -> launcher   LaunchOrder with the worker's end of its control socket (SCM_RIGHTS)
//                             and, optionally, the directory of a cgroup
//    launcher -> supervisor   LaunchReply
//    supervisor -> worker     LaunchOrder on the control socket, with the other descriptors of
//                             worker/protocol.h in the order of their numbers; the ruleset may be
//                             missing
//
// No socket waits in a packet. As long as one does, the kernel looks for cycles of sockets whenever
// any process closes one (net/unix/garbage.c), which takes 35 us here.
//
//    LaunchSocket socket;
//    if (!socket.Open() || !socket.ReceiveSpec(buffer)) ...
//    while (socket.is_open()) {
//      if (!socket.ForkOne(flags)) continue;
//      if (AwaitOrder()) return RunWorker(...);   // in the worker, a child of the supervisor, with
//    }                                            // its descriptors in place
//    return 0;                                    // in a launcher or worker that nobody needs
//
// Freestanding.
#pragma once

#include <cstdint>
#include <span>

#include "base/sys_error.h"
#include "base/unique_fd.h"

namespace pa::worker {

class LaunchSocket {
 public:
  // Moves kLauncherFd to a high number and closes every other descriptor but `kept`, which is a
  // high number, so that the descriptors that are opened or received later get the lowest numbers.
  // -1: none is kept.
  SysResult<void> Open(int kept);
  bool is_open() const { return bool(fd_); }

  // Receives the encoded LaunchSpec into `buffer`, and the network namespace, if there is one.
  SysResult<std::span<const char>> ReceiveSpec(std::span<char> buffer, UniqueFd& network);

  // Receives one LaunchOrder, forks a worker and replies. The socket is closed once no more orders
  // can come. True: this is the worker, and its control socket is its only descriptor. `flags`: the
  // namespaces of the worker's own, CLONE_NEW*.
  bool ForkOne(std::uint64_t flags);

  // Waits for the first order and then accepts no more: an order that is sent later fails at once
  // (EPIPE). The orders that have arrived by then still have to be answered.
  void TakeNoMore();

 private:
  UniqueFd fd_;  // empty: this is a worker, or no more orders can come
};

// In the worker: waits for its order. True: it has come. False: the worker is not needed, and ends.
bool AwaitOrder();

}  // namespace pa::worker
