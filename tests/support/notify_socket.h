// NotifySocket: systemd's end of NOTIFY_SOCKET (sd_notify(3)).
//
//    const NotifySocket systemd(path);
//    EXPECT_EQ(systemd.Next(), "READY=1\nSTATUS=serving");
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <string>

#include "base/unique_fd.h"
#include "tests/support/unix_socket.h"

namespace pa::testing {

class NotifySocket {
 public:
  // Everybody may send there.
  explicit NotifySocket(const std::string& path) {
    const sockaddr_un address = UnixAddress(path);
    EXPECT_EQ(bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(chmod(path.c_str(), 0666), 0);
    const timeval patience{.tv_sec = 20};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  // Waits for it; "": it did not come.
  std::string Next() const {
    char message[1024];
    const ssize_t got = recv(fd_.get(), message, sizeof message, 0);
    return got < 0 ? std::string() : std::string(message, static_cast<std::size_t>(got));
  }

 private:
  UniqueFd fd_{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

}  // namespace pa::testing
