// ListenAddress: where a server listens, and where `connect` finds it, as it is written.
//
//    const auto address = ParseListenAddress("unix:/run/user/1000/agent.sock");
//
// Forms: `stdio`, `unix:PATH`, `http://HOST:PORT`, `systemd`.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace pa {

struct ListenAddress {
  enum class Kind : std::uint8_t {
    kStdio,
    kUnix,
    kTcp,
    kSystemd,  // sockets that systemd has opened and passed (sd_listen_fds(3))
  };
  Kind kind = Kind::kStdio;
  std::string path = {};   // of kUnix: absolute, or from the current directory
  std::string host = {};   // of kTcp: an IP address, without brackets, or `localhost`
  std::uint16_t port = 0;  // of kTcp; 0: any that is free
  bool operator==(const ListenAddress&) const = default;
};

// The error is a sentence that says what was expected.
std::expected<ListenAddress, std::string> ParseListenAddress(std::string_view text);

// `127.0.0.1:8080`, `[::1]:8080`, as in the Host of a request.
std::string HostAndPortText(std::string_view host, std::uint16_t port);

// Whether the host is this machine's loopback address: nobody outside reaches it.
bool IsLoopbackAddress(std::string_view host);

// Whether a request that came to this address of TCP may name this Host: where connections are
// taken at every address of the machine, any IP address, because no page's name is one.
bool IsHostOf(const ListenAddress& listens, std::string_view host);

}  // namespace pa
