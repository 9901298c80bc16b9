#include "worker/launch_socket.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/packet.h"
#include "worker/protocol.h"

namespace pa::worker {
namespace {

// The numbers under which a worker's descriptors arrive: the lowest that are free.
constexpr std::array kArriving = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO,
                                  kSpecFd,      kCwdFd,        kRulesetFd};

// struct clone_args of <linux/sched.h> (clone3(2)), of which we fill in three.
struct CloneArgs {
  std::uint64_t flags;
  std::uint64_t unused[9];
  std::uint64_t cgroup;
};
constexpr std::uint64_t kCloneIntoCgroup = 1ull << 33;

// The supervisor stays the parent, so that it alone waits for its workers. (clone(2): with
// CLONE_PARENT the signal at the end is the one that we would send, SIGCHLD.) It is made in its
// cgroup, not moved there: to move it takes a lock that all forks of this machine share, and an RCU
// grace period (cgroup_threadgroup_rwsem; kernel/cgroup/cgroup.c).
pid_t ForkSibling(std::uint64_t flags, int cgroup) {
  long pid = -1;
  if (cgroup >= 0) {
    const CloneArgs args{
        CLONE_PARENT | kCloneIntoCgroup | flags, {}, static_cast<std::uint64_t>(cgroup)};
    pid = syscall(SYS_clone3, &args, sizeof(args));
  } else {
    pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD | flags, 0, 0, 0, 0);
  }
  return static_cast<pid_t>(pid < 0 ? -errno : pid);
}

// Whether exactly the descriptors of a worker came, each under its number; the ruleset may lack.
bool InPlace(const ReceivedPacket& packet) {
  if (packet.cut || packet.count > kArriving.size() || packet.count + 1 < kArriving.size())
    return false;
  return std::equal(kArriving.begin(), kArriving.begin() + packet.count,
                    packet.descriptors.begin());
}

bool Reply(int socket, pid_t pid) {
  const LaunchReply reply{kLaunchMagic, pid};
  return SendPacket(socket, AsBytes(reply), {}, MSG_NOSIGNAL) == sizeof(reply);
}

}  // namespace

SysResult<void> LaunchSocket::Open(int kept) {
  fd_.reset(fcntl(kLauncherFd, F_DUPFD_CLOEXEC, kFirstStray));
  if (!fd_) return std::unexpected(SysError{"descriptor is not open", "3", errno});
  const unsigned stays[] = {static_cast<unsigned>(std::min(fd_.get(), kept < 0 ? fd_.get() : kept)),
                            static_cast<unsigned>(std::max(fd_.get(), kept))};
  const bool closed =
      syscall(SYS_close_range, 0u, stays[0] - 1, 0u) == 0 &&
      (stays[1] <= stays[0] + 1 || syscall(SYS_close_range, stays[0] + 1, stays[1] - 1, 0u) == 0) &&
      syscall(SYS_close_range, stays[1] + 1, ~0u, 0u) == 0;
  return closed ? SysResult<void>() : std::unexpected(SysError{"close_range", {}, errno});
}

SysResult<std::span<const char>> LaunchSocket::ReceiveSpec(std::span<char> buffer,
                                                           UniqueFd& network) {
  const ReceivedPacket packet = ReceivePacket(fd_.get(), buffer, MSG_CMSG_CLOEXEC);
  if (packet.size < 0) return std::unexpected(SysError{"recv", "launch spec", errno});
  if (packet.count > 0) network.reset(packet.descriptors[0]);
  const auto size = static_cast<std::size_t>(packet.size);
  if (packet.cut || packet.count > 1 || size < sizeof(kLaunchMagic) ||
      std::memcmp(buffer.data(), &kLaunchMagic, sizeof(kLaunchMagic)) != 0) {
    return std::unexpected(SysError{"recv", "launch spec", EPROTO});
  }
  return buffer.first(size).subspan(sizeof(kLaunchMagic));
}

bool LaunchSocket::ForkOne(std::uint64_t flags) {
  LaunchOrder order;
  const ReceivedPacket packet = ReceivePacket(fd_.get(), AsWritableBytes(order), 0);
  if (packet.size != sizeof(order) || packet.cut || packet.count < 1 || packet.count > 2 ||
      order.magic != kLaunchMagic) {
    fd_.reset();
    return false;
  }
  const int control = packet.descriptors[0];
  const int cgroup = packet.count == 2 ? packet.descriptors[1] : -1;
  const pid_t pid = ForkSibling(flags, cgroup);
  if (pid == 0) {
    fd_.reset();
    if (dup2(control, kControlFd) < 0) return false;
    syscall(SYS_close_range, 0u, unsigned{kSpecFd}, 0u);
    return true;
  }
  // Before the reply: who orders from a worker that is gone must see that nobody holds its end.
  syscall(SYS_close_range, 0u, unsigned{kSpecFd}, 0u);
  if (!Reply(fd_.get(), pid)) fd_.reset();
  return false;
}

void LaunchSocket::TakeNoMore() {
  char byte = 0;
  (void)recv(fd_.get(), &byte, 1, MSG_PEEK);
  shutdown(fd_.get(), SHUT_RD);
}

// The worker waits here, maybe for long. Nothing but the whole order lets it begin.
bool AwaitOrder() {
  LaunchOrder order;
  const ReceivedPacket packet = ReceivePacket(kControlFd, AsWritableBytes(order), 0);
  return packet.size == sizeof(order) && order.magic == kLaunchMagic && InPlace(packet);
}

}  // namespace pa::worker
