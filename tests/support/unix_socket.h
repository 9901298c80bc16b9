// Unix sockets of tests, by path.
//
//    const UniqueFd listener = ListenUnix(path);            // empty: errno says why
//    const UniqueFd client = ConnectUnix(path);
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "base/unique_fd.h"

namespace pa::testing {

inline sockaddr_un UnixAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

inline UniqueFd ConnectUnix(const std::string& path) {
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = UnixAddress(path);
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  if (connect(fd.get(), name, sizeof address) != 0) fd.reset();
  return fd;
}

inline UniqueFd ListenUnix(const std::string& path) {
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = UnixAddress(path);
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  if (bind(fd.get(), name, sizeof address) != 0 || listen(fd.get(), SOMAXCONN) != 0) fd.reset();
  return fd;
}

}  // namespace pa::testing
