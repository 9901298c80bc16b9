// IsLoopbackHost: whether the Host of a request names this machine by its loopback address. A page
// of another site, whose name somebody has made to mean 127.0.0.1 (DNS rebinding), names its own.
//
//    if (!IsLoopbackHost(*head.Find("host"), 41234)) ...
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/words.h"

namespace pa {

// `localhost:PORT`, `127.0.0.1:PORT` or `[::1]:PORT`; without the port where that is 80.
inline bool IsLoopbackHost(std::string_view host, std::uint16_t port) {
  const std::string suffix = ":" + std::to_string(port);
  if (host.ends_with(suffix)) {
    host.remove_suffix(suffix.size());
  } else if (port != 80) {
    return false;
  }
  return host == "127.0.0.1" || host == "[::1]" || Lowered(host) == "localhost";
}

}  // namespace pa
