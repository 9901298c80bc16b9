#include "sandbox/loopback.h"

#include <errno.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/unique_fd.h"

namespace pa::sandbox {

SysResult<void> RaiseLoopback() {
  const UniqueFd socket_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket_fd) return std::unexpected(SysError{"socket", "loopback", errno});
  ifreq request = {.ifr_ifrn = {.ifrn_name = "lo"}, .ifr_ifru = {}};
  if (ioctl(socket_fd.get(), SIOCGIFFLAGS, &request) != 0) {
    return std::unexpected(SysError{"ioctl", "SIOCGIFFLAGS lo", errno});
  }
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  if (ioctl(socket_fd.get(), SIOCSIFFLAGS, &request) != 0) {
    return std::unexpected(SysError{"ioctl", "SIOCSIFFLAGS lo", errno});
  }
  return {};
}

}  // namespace pa::sandbox
