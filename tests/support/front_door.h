// Files that are installed, for a test: with other places.
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
#include <utility>
#include <vector>

namespace pa::testing {

inline constexpr char kNginx[] = "/usr/sbin/nginx";

struct Place {
  std::string_view from;
  std::string to;
};
// Aborts if a place is not named there any more.
inline std::string WithPlaces(std::string text, const std::vector<Place>& places) {
  for (const auto& [from, to] : places) {
    std::size_t at = text.find(from);
    if (at == std::string::npos) abort();
    for (; at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

inline std::string NginxConf(std::string text, const std::string& dir, std::uint16_t port) {
  return WithPlaces(std::move(text),
                    {{"/run/project-actions-nginx", dir + "/nginx"},
                     {"/var/lib/project-actions-nginx", dir + "/nginx"},
                     {"/run/project-actionsd.sock", dir + "/door.sock"},
                     {"/run/project-actions/", dir + "/run/"},
                     {"/etc/project-actions/nginx.d", dir + "/nginx.d"},
                     {"listen 127.0.0.1:8787", "listen 127.0.0.1:" + std::to_string(port)}});
}

}  // namespace pa::testing
