// LaunchSocket: a launcher's end of the socket by which the supervisor asks for workers.
//
//   supervisor -> launcher   kLaunchMagic, then what all its workers have in common (LaunchSpec)
//   supervisor -> launcher   LaunchOrder with the worker's end of its control socket as SCM_RIGHTS,
//                            maybe a cgroup's directory behind it
//   launcher -> supervisor   LaunchReply
//   supervisor -> worker     LaunchOrder on the control socket, with the other descriptors of
//                            worker/protocol.h, in the order of their numbers; the ruleset may lack
//
// No socket waits in a packet: as long as one does, the kernel looks for cycles of them whenever
// anybody closes one (net/unix/garbage.c), 35 us here.
//
// So the supervisor can have a worker that waits, forked while nobody was waiting for it.
//
//   LaunchSocket socket;
//   if (!socket.Open() || !socket.ReceiveSpec(buffer)) ...
//   while (socket.is_open()) {
//     if (!socket.ForkOne(flags)) continue;
//     if (AwaitOrder()) return RunWorker(...);   // here each worker comes out, a child of the
//   }                                            // supervisor, with its descriptors in place
//   return 0;                                    // and here who is not wanted any more
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
  // Takes kLauncherFd and closes everything else: what is opened or received then gets the lowest
  // numbers.
  SysResult<void> Open();
  bool is_open() const { return bool(fd_); }

  // The encoded LaunchSpec, within `buffer`.
  SysResult<std::span<const char>> ReceiveSpec(std::span<char> buffer);

  // Answers one LaunchOrder; not open any more when there will be none. True in the worker, which
  // has its control socket and nothing else. `flags`: namespaces of its own, CLONE_NEW*.
  bool ForkOne(std::uint64_t flags);

  // Waits until there is an order. Whoever orders later sees at once that it is in vain (EPIPE);
  // what was ordered by then is to be answered.
  void TakeNoMore();

 private:
  UniqueFd fd_;  // empty: we are a worker, or nobody orders any more
};

// In the worker. True: it shall begin.
bool AwaitOrder();

}  // namespace pa::worker
