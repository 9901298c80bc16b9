// Packets with descriptors over a SOCK_SEQPACKET socket (unix(7), SCM_RIGHTS). Freestanding.
//
//    SendPacket(socket, AsBytes(order), descriptors, MSG_NOSIGNAL);
//    ReceivedPacket packet = ReceivePacket(socket, AsWritableBytes(order), MSG_CMSG_CLOEXEC);
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

// Returns what sendmsg(2) returns: the bytes sent, or -1. `descriptors`: at most
// kMaxPacketDescriptors, borrowed.
ssize_t SendPacket(int socket, std::span<const char> bytes, std::span<const int> descriptors,
                   int flags);

struct ReceivedPacket {
  ssize_t size = -1;  // as from recvmsg(2); 0: hang-up
  // Open, and owned by the caller; in the order in which they were sent.
  std::array<int, kMaxPacketDescriptors> descriptors{};
  std::size_t count = 0;
  // Bytes or descriptors did not fit, or this process may not open so many descriptors.
  bool cut = false;
};

ReceivedPacket ReceivePacket(int socket, std::span<char> bytes, int flags);

// As recv(2), for a packet that has already arrived; EAGAIN: there is none. Never ECONNRESET, which
// the kernel reports once, before the packets that still wait, when the other end was closed with a
// packet of ours unread. After those packets comes 0, the hang-up.
ssize_t ReceiveWaiting(int socket, std::span<char> bytes, int flags = 0);
// The same with descriptors, which are close-on-exec.
ReceivedPacket ReceiveWaitingPacket(int socket, std::span<char> bytes);

}  // namespace pa
