// Packets with descriptors over a SOCK_SEQPACKET socket (unix(7), SCM_RIGHTS). Freestanding.
//
//   SendPacket(socket, AsBytes(order), descriptors, MSG_NOSIGNAL);
//   ReceivedPacket packet = ReceivePacket(socket, AsWritableBytes(order), MSG_CMSG_CLOEXEC);
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <span>

namespace pa {

inline constexpr std::size_t kMaxPacketDescriptors = 8;

template <typename T>
std::span<const char> AsBytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}
template <typename T>
std::span<char> AsWritableBytes(T& value) {
  return {reinterpret_cast<char*>(&value), sizeof(value)};
}

// As sendmsg(2): the bytes sent, or -1. At most kMaxPacketDescriptors, borrowed.
ssize_t SendPacket(int socket, std::span<const char> bytes, std::span<const int> descriptors,
                   int flags);

struct ReceivedPacket {
  ssize_t size = -1;  // as of recvmsg(2); 0: hung up
  // Open, and the caller's; in the order sent.
  std::array<int, kMaxPacketDescriptors> descriptors{};
  std::size_t count = 0;
  bool cut = false;  // bytes or descriptors did not fit, or there may not be as many of the latter
};

ReceivedPacket ReceivePacket(int socket, std::span<char> bytes, int flags);

// As recv(2), of a packet that waits; EAGAIN: none. Never ECONNRESET: the other end closed and left
// something of ours unread, which the kernel says once, before the packets that still wait. What
// follows them is 0, the hang-up.
ssize_t ReceiveWaiting(int socket, std::span<char> bytes, int flags = 0);

}  // namespace pa
