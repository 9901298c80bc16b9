// LaunchSocket: a launcher's end of the socket by which the supervisor orders workers.
//
//   supervisor -> launcher   kLaunchMagic, then the seccomp program of all its workers (struct
//                            sock_filter[]; nothing: each worker loads the one of its spec)
//   supervisor -> launcher   LaunchOrder, with the worker's descriptors 0 to kCwdFd, or to
//                            kRulesetFd, as SCM_RIGHTS
//   launcher -> supervisor   LaunchReply, one an order
//
//   LaunchSocket socket;
//   if (!socket.Open() || !socket.ReceiveProgram(buffer)) ...
//   if (socket.Serve()) return RunWorker(...);   // here each worker comes out, a child of the
//                                                // supervisor, with its descriptors in place
//   return 0;                                    // and here the launcher, when nobody orders more
//
// Freestanding.
#pragma once

#include <sys/types.h>

#include <span>
#include <string_view>

#include "base/sys_error.h"
#include "base/unique_fd.h"

namespace pa::worker {

class LaunchSocket {
 public:
  // Takes kLauncherFd and closes everything else: what is received then gets the numbers 0, 1, ...
  // (the kernel gives the lowest that are free, in the order sent).
  SysResult<void> Open();
  bool is_open() const { return bool(fd_); }

  SysResult<std::string_view> ReceiveProgram(std::span<char> buffer);

  enum class Until { kTheSupervisorIsGone, kTheFirstOrder };
  // True in a worker, false in the launcher.
  bool Serve(Until until);

 private:
  enum class Order { kComplete, kWithoutDescriptors, kNone };
  Order Receive();

  UniqueFd fd_;
};

}  // namespace pa::worker
