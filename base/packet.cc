#include "base/packet.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace pa {
namespace {

constexpr std::size_t kRoom = CMSG_SPACE(sizeof(int) * kMaxPacketDescriptors);

}  // namespace

ssize_t SendPacket(int socket, std::span<const char> bytes, std::span<const int> descriptors,
                   int flags) {
  if (descriptors.size() > kMaxPacketDescriptors) {
    errno = EINVAL;
    return -1;
  }
  iovec data = {const_cast<char*>(bytes.data()), bytes.size()};  // sendmsg's type; nobody writes
  alignas(cmsghdr) char control[kRoom] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control;
    // size_t for glibc, socklen_t for musl.
    using Length = decltype(message.msg_controllen);
    message.msg_controllen = static_cast<Length>(CMSG_SPACE(descriptors.size_bytes()));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = static_cast<Length>(CMSG_LEN(descriptors.size_bytes()));
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  return sendmsg(socket, &message, flags);
}

ReceivedPacket ReceivePacket(int socket, std::span<char> bytes, int flags) {
  iovec data = {bytes.data(), bytes.size()};
  alignas(cmsghdr) char control[kRoom] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ReceivedPacket packet;
  packet.size = recvmsg(socket, &message, flags);
  if (packet.size < 0) return packet;
  packet.cut = (message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
    return packet;
  }
  packet.count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  std::memcpy(packet.descriptors.data(), CMSG_DATA(header), packet.count * sizeof(int));
  return packet;
}

ssize_t ReceiveWaiting(int socket, std::span<char> bytes, int flags) {
  ssize_t got = -1;
  do {
    got = recv(socket, bytes.data(), bytes.size(), flags | MSG_DONTWAIT);
  } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  return got;
}

ReceivedPacket ReceiveWaitingPacket(int socket, std::span<char> bytes) {
  ReceivedPacket packet;
  do {
    packet = ReceivePacket(socket, bytes, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (packet.size < 0 && (errno == EINTR || errno == ECONNRESET));
  return packet;
}

}  // namespace pa
