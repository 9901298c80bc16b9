// Requests of HTTP as raw bytes, and what comes back.
//
//    const UniqueFd fd = ConnectLoopback(port);
//    const std::string request = ModernPost("make", {{"target", "hello"}}, "Host: x\r\n");
//    send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
//    const std::string answer = Hear(fd.get());            // until the connection ends
#pragma once

#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tests/support/json.h"
#include "tests/support/mcp_client.h"
#include "tests/support/project.h"

namespace pa::testing {

// The bytes that came until the connection ended, or until they hold `until`.
inline std::string Hear(int fd, std::string_view until = "") {
  std::string all;
  char chunk[4096];
  const timeval patience{.tv_sec = kPatience.count()};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  for (ssize_t got = 1; got > 0 && (until.empty() || all.find(until) == std::string::npos);) {
    got = recv(fd, chunk, sizeof chunk, 0);
    if (got > 0) all.append(chunk, static_cast<std::size_t>(got));
  }
  return all;
}

// One answer of a connection that goes on.
inline std::string HearAnswer(int fd) {
  std::string answer = Hear(fd, "\r\n\r\n");
  constexpr std::string_view kLength = "Content-Length: ";
  const std::size_t at = answer.find(kLength);
  if (at == std::string::npos) return answer;
  const std::size_t whole =
      answer.find("\r\n\r\n") + 4 + std::stoul(answer.substr(at + kLength.size()));
  char chunk[4096];
  for (ssize_t got = 1; got > 0 && answer.size() < whole;) {
    got = recv(fd, chunk, std::min(sizeof chunk, whole - answer.size()), 0);
    if (got > 0) answer.append(chunk, static_cast<std::size_t>(got));
  }
  return answer;
}

inline std::string PostOf(const Json& message, const std::string& fields) {
  const std::string body = message.dump();
  return "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n"
         "Accept: application/json, text/event-stream\r\n" +
         fields + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
inline std::string ModernPost(const std::string& tool, const Json& arguments,
                              const std::string& fields, const Json& meta = ModernMeta()) {
  const Json params = {{"name", tool}, {"arguments", arguments}, {"_meta", meta}};
  return PostOf({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", params}},
                "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: " + tool +
                    "\r\n" + fields);
}
}  // namespace pa::testing
