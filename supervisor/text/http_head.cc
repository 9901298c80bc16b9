#include "supervisor/text/http_head.h"

#include <algorithm>
#include <string>

namespace pa {
namespace {

constexpr HeadCheck Refused(std::string_view why) { return {HeadVerdict::kRefused, why}; }

// A character of a method or of the name of a field (RFC 9110, 5.6.2).
bool IsTokenCharacter(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsTokenCharacter);
}

bool IsVisible(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; }

bool SameLetters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// `GET /path HTTP/1.1`
bool IsRequestLine(std::string_view line) {
  const std::size_t target = line.find(' ');
  const std::size_t version = line.rfind(' ');
  if (target == std::string_view::npos || version == target) return false;
  const std::string_view path = line.substr(target + 1, version - target - 1);
  const std::string_view protocol = line.substr(version + 1);
  const bool is_path = path == "*" || path.starts_with('/');
  return IsToken(line.substr(0, target)) && is_path && path.find(' ') == std::string_view::npos &&
         (protocol == "HTTP/1.1" || protocol == "HTTP/1.0");
}

}  // namespace

HeadCheck CheckHttpHead(std::string_view bytes, std::uint16_t port) {
  const std::string suffix = ":" + std::to_string(port);
  std::size_t at = 0;
  bool has_host = false;
  for (std::size_t count = 0;; ++count) {
    const std::size_t end = bytes.find('\n', at);
    std::string_view line = bytes.substr(at, std::min(end, bytes.size()) - at);
    // A line without its end is judged as far as it is there, so that a wrong one is refused at
    // once.
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool visible =
        std::ranges::all_of(line, [](char c) { return IsVisible(c) || c == '\t'; });
    if (!visible) return Refused("only HTTP/1 is served here");
    if (end >= kMaxHttpHead) {  // or nowhere
      if (bytes.size() >= kMaxHttpHead) return Refused("the head of the request is too long");
      return {};
    }
    at = end + 1;
    if (count == 0) {
      if (!IsRequestLine(line)) return Refused("only HTTP/1 is served here");
      continue;
    }
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
      return Refused("a line of the head is no field of HTTP/1");
    }
    if (!SameLetters(line.substr(0, colon), "host")) continue;
    const std::string_view host = Trimmed(line.substr(colon + 1));
    const bool ours =
        SameLetters(host, "localhost" + suffix) || SameLetters(host, "127.0.0.1" + suffix);
    if (has_host || !ours) return Refused("the Host of the request is not this server");
    has_host = true;
  }
  return has_host ? HeadCheck{HeadVerdict::kAccepted} : Refused("the request has no Host");
}

}  // namespace pa
