// HttpHead: whether the first request of a connection is one of HTTP/1, and names the host by which
// a port of this machine is reached. A page of another site, whose name somebody has made to mean
// 127.0.0.1 (DNS rebinding), names its own.
//
//    HeadCheck check = CheckHttpHead(bytes, 41234);
//    if (check.verdict == HeadVerdict::kIncomplete) ...     // read more
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pa {

inline constexpr std::size_t kMaxHttpHead = 16U << 10;

enum class HeadVerdict : std::uint8_t { kIncomplete, kAccepted, kRefused };

struct HeadCheck {
  HeadVerdict verdict = HeadVerdict::kIncomplete;
  std::string_view why = {};  // of kRefused, for people
};

// Accepts a request line of HTTP/1.0 or 1.1 (RFC 9112) with a path as its target, and header lines
// with exactly one Host, which is `localhost:PORT` or `127.0.0.1:PORT`. Refuses as soon as a line
// is none of these, and what has no end within kMaxHttpHead bytes.
HeadCheck CheckHttpHead(std::string_view bytes, std::uint16_t port);

}  // namespace pa
