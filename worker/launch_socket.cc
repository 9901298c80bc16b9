#include "worker/launch_socket.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "worker/protocol.h"

namespace pa::worker {
namespace {

// The supervisor stays the parent, so that it alone waits for its workers. (clone(2): with CLONE_PARENT
// the signal at the end is the one that we would send, SIGCHLD.)
pid_t ForkSibling() {
  const long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
  return static_cast<pid_t>(pid < 0 ? -errno : pid);
}

// Whether exactly the descriptors of a worker came, each under its number.
bool InPlace(const msghdr& message) {
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if ((message.msg_flags & MSG_CTRUNC) != 0 || header == nullptr) return false;
  if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return false;
  const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  if (count != kCwdFd + 1 && count != kRulesetFd + 1) return false;
  for (int fd = 0; fd < static_cast<int>(count); ++fd) {
    int received = -1;
    std::memcpy(&received, CMSG_DATA(header) + static_cast<std::size_t>(fd) * sizeof(int),
                sizeof(int));
    if (received != fd) return false;
  }
  return true;
}

}  // namespace

SysResult<void> LaunchSocket::Open() {
  fd_.reset(fcntl(kLauncherFd, F_DUPFD_CLOEXEC, kFirstStray));
  if (!fd_) return std::unexpected(SysError{"descriptor is not open", "3", errno});
  const auto number = static_cast<unsigned>(fd_.get());
  if (syscall(SYS_close_range, 0u, number - 1, 0u) != 0 ||
      syscall(SYS_close_range, number + 1, ~0u, 0u) != 0) {
    return std::unexpected(SysError{"close_range", {}, errno});
  }
  return {};
}

SysResult<std::string_view> LaunchSocket::ReceiveProgram(std::span<char> buffer) {
  const ssize_t got = recv(fd_.get(), buffer.data(), buffer.size(), MSG_TRUNC);
  if (got < 0) return std::unexpected(SysError{"recv", "seccomp program", errno});
  const std::string_view packet(buffer.data(), static_cast<std::size_t>(got));
  if (packet.size() > buffer.size() || packet.size() < sizeof(kLaunchMagic) ||
      std::memcmp(packet.data(), &kLaunchMagic, sizeof(kLaunchMagic)) != 0) {
    return std::unexpected(SysError{"recv", "seccomp program", EPROTO});
  }
  return packet.substr(sizeof(kLaunchMagic));
}

LaunchSocket::Order LaunchSocket::Receive() {
  LaunchOrder order;
  iovec bytes = {&order, sizeof(order)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kFirstStray)];
  msghdr message = {};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t got = recvmsg(fd_.get(), &message, 0);
  if (got != sizeof(order) || order.magic != kLaunchMagic) return Order::kNone;
  return InPlace(message) ? Order::kComplete : Order::kWithoutDescriptors;
}

bool LaunchSocket::Serve(Until until) {
  for (;;) {
    const Order order = Receive();
    if (order == Order::kNone) return false;
    // Too few descriptors come when we may not have as many.
    const pid_t pid = order == Order::kComplete ? ForkSibling() : -EMFILE;
    if (pid == 0) return true;
    // Before the reply: the hang-up of the worker's control socket means its end.
    syscall(SYS_close_range, 0u, static_cast<unsigned>(kFirstStray - 1), 0u);
    const LaunchReply reply{kLaunchMagic, pid};
    if (send(fd_.get(), &reply, sizeof(reply), MSG_NOSIGNAL) < 0) return false;
    if (until == Until::kTheFirstOrder) return false;
  }
}

}  // namespace pa::worker
