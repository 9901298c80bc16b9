// Loopback: sockets of 127.0.0.1 for tests.
//
//    const LoopbackListener listener;                       // on a free port
//    const UniqueFd client = ConnectLoopback(listener.port());
//    const UniqueFd accepted = listener.Accept();
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <utility>

#include "base/unique_fd.h"

namespace pa::testing {

inline sockaddr_in LoopbackAddress(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

class LoopbackListener {
 public:
  LoopbackListener() {
    sockaddr_in address = LoopbackAddress(0);
    socklen_t size = sizeof address;
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(fd_.get(), name, size), 0);
    EXPECT_EQ(listen(fd_.get(), 128), 0);
    EXPECT_EQ(getsockname(fd_.get(), name, &size), 0);
    port_ = ntohs(address.sin_port);
  }

  std::uint16_t port() const { return port_; }
  UniqueFd Take() { return std::move(fd_); }
  UniqueFd Accept() const { return UniqueFd(accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }

 private:
  UniqueFd fd_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::uint16_t port_ = 0;
};

// Empty: nobody listens.
inline UniqueFd ConnectLoopback(std::uint16_t port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = LoopbackAddress(port);
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  if (connect(fd.get(), name, sizeof address) != 0) fd.reset();
  return fd;
}

}  // namespace pa::testing
