// LaunchSocket: a launcher's end of the socket by which the supervisor asks for workers.
//
//   supervisor -> launcher   kLaunchMagic, then the seccomp program of all its workers (struct
//                            sock_filter[]; nothing: each worker loads the one of its spec)
//   supervisor -> launcher   LaunchOrder
//   launcher -> supervisor   LaunchReply with the supervisor's end of the worker's control socket as
//                            SCM_RIGHTS; without it when it could not be sent
//   supervisor -> worker     LaunchOrder on that socket, with the other descriptors of
//                            worker/protocol.h, in the order of their numbers; the ruleset may lack
//
// So the supervisor can have a worker that waits, forked while nobody was waiting for it.
//
//   LaunchSocket socket;
//   if (!socket.Open() || !socket.ReceiveProgram(buffer)) ...
//   if (socket.Serve()) return RunWorker(...);   // here each worker comes out, a child of the
//                                                // supervisor, with its descriptors in place
//   return 0;                                    // and here who is not wanted any more
//
// Freestanding.
#pragma once

#include <span>
#include <string_view>

#include "base/sys_error.h"
#include "base/unique_fd.h"

namespace pa::worker {

class LaunchSocket {
 public:
  // Takes kLauncherFd and closes everything else: what is opened or received then gets the lowest
  // numbers.
  SysResult<void> Open();
  bool is_open() const { return bool(fd_); }

  SysResult<std::string_view> ReceiveProgram(std::span<char> buffer);

  // True in a worker that shall begin; false in the launcher when nobody orders any more, and in a
  // worker that nobody wants.
  bool Serve();
  // Answers one LaunchOrder. True in the worker, which has its control socket and nothing else.
  bool ForkOne();

 private:
  UniqueFd fd_;  // empty: we are a worker, or nobody orders any more
};

}  // namespace pa::worker
