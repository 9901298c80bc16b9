// The installed nginx.conf, for a test: with other places.
//
//    WriteText(dir / "nginx.conf", NginxConf(ReadText(BuiltProgram("PA_NGINX_CONF")), dir, port));
//
// In `dir` are `nginx` (what nginx writes), `nginx.d`, `door.sock` (project-actionsd) and `run`
// (the tenants' sockets).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace pa::testing {

inline constexpr char kNginx[] = "/usr/sbin/nginx";

// Aborts if a place is not named there any more.
inline std::string NginxConf(std::string text, const std::string& dir, std::uint16_t port) {
  const auto replace = [&](std::string_view from, const std::string& to) {
    std::size_t at = text.find(from);
    if (at == std::string::npos) abort();
    for (; at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  };
  replace("/run/project-actions-nginx", dir + "/nginx");
  replace("/var/lib/project-actions-nginx", dir + "/nginx");
  replace("/run/project-actionsd.sock", dir + "/door.sock");
  replace("/run/project-actions/", dir + "/run/");
  replace("/etc/project-actions/nginx.d", dir + "/nginx.d");
  replace("listen 127.0.0.1:8787", "listen 127.0.0.1:" + std::to_string(port));
  return text;
}

}  // namespace pa::testing
