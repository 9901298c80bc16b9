#include "policy/url.h"

#include <algorithm>
#include <charconv>

#include "base/words.h"

namespace pa::policy {
namespace {

constexpr std::string_view kSchemes[] = {"https://", "http://"};

constexpr std::string_view kOrigin =
    R"(https?://([A-Za-z0-9.-]+|\[[A-Za-z0-9.:]+\])(:[1-9][0-9]{0,4})?)";

struct Parts {
  std::string_view host;  // with brackets, if it is an IPv6 address
  std::string_view port;  // behind the colon
  std::string_view path;
  bool has_port = false;
};

bool IsHostCharacter(char c, bool brackets) {
  const bool alphanumeric =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return alphanumeric || c == '.' || (brackets ? c == ':' : c == '-');
}

Parts Divide(std::string_view url) {
  for (const std::string_view scheme : kSchemes) {
    if (!url.starts_with(scheme)) continue;
    url.remove_prefix(scheme.size());
    Parts parts;
    const std::size_t slash = std::min(url.find('/'), url.size());
    parts.path = url.substr(slash);
    parts.host = url.substr(0, slash);
    const bool brackets = parts.host.starts_with('[');
    const std::size_t colon = parts.host.find(':', brackets ? parts.host.find(']') : 0);
    parts.has_port = colon != std::string_view::npos;
    if (parts.has_port) {
      parts.port = parts.host.substr(colon + 1);
      parts.host = parts.host.substr(0, colon);
    }
    return parts;
  }
  return {};
}

bool IsHost(std::string_view host) {
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  if (brackets) host = host.substr(1, host.size() - 2);
  for (const char c : host) {
    if (!IsHostCharacter(c, brackets)) return false;
  }
  return !host.empty();
}

bool IsPort(const Parts& parts) {
  unsigned port = 0;
  const char* const end = parts.port.data() + parts.port.size();
  const auto [read_to, error] = std::from_chars(parts.port.data(), end, port);
  return !parts.has_port || (error == std::errc() && read_to == end && port > 0 && port <= 65535 &&
                             parts.port[0] != '0');
}

bool IsPath(std::string_view path) {
  for (const char c : path) {
    if (c <= ' ' || c >= 0x7f || c == '?' || c == '#' || c == '"' || c == '\\') return false;
  }
  return true;
}

}  // namespace

std::string CheckUrl(std::string_view url) {
  const Parts parts = Divide(url);
  if (IsHost(parts.host) && IsPort(parts) && IsPath(parts.path)) return "";
  return "expected a URL such as https://agents.example.org/mcp, without user, query and fragment";
}

std::string CheckOrigin(std::string_view origin) {
  const Parts parts = Divide(origin);
  if (IsHost(parts.host) && IsPort(parts) && parts.path.empty()) return "";
  return "expected an origin such as https://app.example.org or http://localhost:6274";
}

std::string UrlPattern() { return "^(" + std::string(kOrigin) + R"((/[!$-.0->@-\[\]-~/]*)?)?$)"; }

std::string OriginPattern() { return "^" + std::string(kOrigin) + "$"; }

std::string_view PathOfUrl(std::string_view url) { return Divide(url).path; }

std::string_view OriginOfUrl(std::string_view url) {
  return url.substr(0, url.size() - PathOfUrl(url).size());
}

bool IsSafeUrl(std::string_view url) {
  const std::string host = Lowered(Divide(url).host);
  return url.starts_with(kSchemes[0]) || host == "localhost" || host == "127.0.0.1" ||
         host == "[::1]";
}

std::string HostOfUrl(std::string_view url) {
  const Parts parts = Divide(url);
  std::string host = Lowered(parts.host);
  if (parts.has_port) host.append(":").append(parts.port);
  return host;
}

}  // namespace pa::policy
