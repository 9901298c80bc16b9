#include "supervisor/transport/listen_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/un.h>

#include <charconv>

#include "supervisor/text/loopback_host.h"

namespace pa {
namespace {

constexpr std::string_view kForms = "an address is stdio, unix:PATH, http://HOST:PORT or systemd";
constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kHttp = "http://";

using Parsed = std::expected<ListenAddress, std::string>;

std::unexpected<std::string> Wrong(std::string_view why, std::string_view text) {
  return std::unexpected(fmt::format("{}, not '{}'", why, text));
}

bool IsIpAddress(const std::string& host) {
  in6_addr any{};
  return inet_pton(AF_INET, host.c_str(), &any) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

Parsed ParseUnix(std::string_view path, std::string_view text) {
  constexpr std::size_t kMost = sizeof(sockaddr_un::sun_path) - 1;
  if (path.empty())
    return Wrong("unix: has a path behind it, as in unix:/run/user/1000/agent.sock", text);
  // The kernel takes a path that begins with it for a name without a file.
  if (path.contains('\0')) return Wrong("a path cannot hold a zero byte", text);
  if (path.size() > kMost) {
    return Wrong(fmt::format("the path of a Unix socket has at most {} bytes", kMost), text);
  }
  return ListenAddress{.kind = ListenAddress::Kind::kUnix, .path = std::string(path)};
}

Parsed ParseTcp(std::string_view rest, std::string_view text) {
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || rest.contains('/')) {
    return Wrong("an address of HTTP is http://HOST:PORT; the path is always /mcp", text);
  }
  std::string_view host = rest.substr(0, colon);
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  if (brackets) host = host.substr(1, host.size() - 2);
  ListenAddress address{.kind = ListenAddress::Kind::kTcp, .host = std::string(host)};
  if (brackets != host.contains(':') || (host != "localhost" && !IsIpAddress(address.host))) {
    return Wrong("HOST must be localhost or an IP address, an IPv6 one in brackets", text);
  }
  const std::string_view port = rest.substr(colon + 1);
  const char* const end = port.data() + port.size();
  const auto [read_to, error] = std::from_chars(port.data(), end, address.port);
  if (port.empty() || read_to != end || error != std::errc()) {
    return Wrong("PORT must be a number from 0 to 65535", text);
  }
  return address;
}

}  // namespace

std::expected<ListenAddress, std::string> ParseListenAddress(std::string_view text) {
  using Kind = ListenAddress::Kind;
  if (text == "stdio") return ListenAddress{.kind = Kind::kStdio};
  if (text == "systemd") return ListenAddress{.kind = Kind::kSystemd};
  if (text.starts_with(kUnix)) return ParseUnix(text.substr(kUnix.size()), text);
  if (text.starts_with(kHttp)) return ParseTcp(text.substr(kHttp.size()), text);
  if (text.starts_with("https://")) {
    return Wrong("TLS is what a proxy speaks in front of the server; listen on http://HOST:PORT",
                 text);
  }
  return Wrong(kForms, text);
}

std::string HostAndPortText(std::string_view host, std::uint16_t port) {
  return host.contains(':') ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

bool IsLoopbackAddress(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

bool IsHostOf(const ListenAddress& listens, std::string_view host) {
  if (listens.kind != ListenAddress::Kind::kTcp) return false;
  const bool everywhere = listens.host == "0.0.0.0" || listens.host == "::";
  if (IsLoopbackAddress(listens.host) || everywhere) {
    if (IsLoopbackHost(host, listens.port)) return true;
  }
  const std::string suffix = ":" + std::to_string(listens.port);
  if (everywhere && host.ends_with(suffix)) {
    host.remove_suffix(suffix.size());
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return IsIpAddress(std::string(host));
  }
  return host == HostAndPortText(listens.host, listens.port);
}

}  // namespace pa
