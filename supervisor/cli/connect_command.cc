#include "supervisor/cli/connect_command.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <thread>

#include "base/file.h"
#include "base/try.h"
#include "base/utf8.h"
#include "base/words.h"
#include "supervisor/cli/configuration.h"
#include "supervisor/mcp/http_endpoint.h"
#include "supervisor/transport/listening_socket.h"

namespace pa {
namespace {

constexpr std::size_t kChunk = 64U << 10;
constexpr std::size_t kMaxHead = 16U << 10;
constexpr std::string_view kHeadEnd = "\r\n\r\n";

// The next bytes; "": the end.
Result<std::string> ReadSome(int fd) {
  std::string chunk(kChunk, '\0');
  for (;;) {
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(Error("read", "", errno));
    chunk.resize(static_cast<std::size_t>(got));
    return chunk;
  }
}

// Until the end of `from`, or until nobody takes it.
Result<void> Pump(int from, int to) {
  for (;;) {
    PA_TRY(const std::string chunk, ReadSome(from));
    if (chunk.empty()) return {};
    PA_TRY_VOID(WriteAll(to, chunk));
  }
}

std::string RequestFor(const ListenAddress& address, const std::string& token) {
  const bool is_unix = address.kind == ListenAddress::Kind::kUnix;
  std::string request = fmt::format(
      "GET /mcp HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: {}\r\n",
      is_unix ? "localhost" : HostAndPortText(address.host, address.port), kLineProtocol);
  if (!is_unix && !token.empty()) request += fmt::format("Authorization: Bearer {}\r\n", token);
  return request + "\r\n";
}

// The bytes behind the head, which begin the lines. The error is the answer of the server.
std::expected<std::string, std::string> AwaitUpgrade(int fd) {
  std::string answer;
  std::size_t end = std::string::npos;
  while (end == std::string::npos && answer.size() <= kMaxHead) {
    const Result<std::string> more = ReadSome(fd);
    if (!more) return std::unexpected(more.error().Message());
    if (more->empty()) break;
    answer += *more;
    end = answer.find(kHeadEnd);
  }
  if (end == std::string::npos) {
    return std::unexpected(std::string("it ends the connection without an answer of HTTP"));
  }
  if (answer.starts_with("HTTP/1.1 101 ")) return answer.substr(end + kHeadEnd.size());
  // Of a refusal, the rest of the line for people.
  while (!answer.substr(end + kHeadEnd.size()).contains('\n') && answer.size() <= kMaxHead) {
    const Result<std::string> more = ReadSome(fd);
    if (!more || more->empty()) break;
    answer += *more;
  }
  const std::string status = answer.substr(0, answer.find('\r'));
  const std::string body = answer.substr(end + kHeadEnd.size());
  const std::size_t space = std::min(status.find(' '), status.size());
  return std::unexpected(RepairUtf8(
      fmt::format("it answers{}: {}", status.substr(space), body.substr(0, body.find('\n'))),
      true));
}

int Failed(const ConnectCommand& command, const std::string& why) {
  const ListenAddress& address = command.address;
  const std::string where = address.kind == ListenAddress::Kind::kUnix
                                ? "unix:" + address.path
                                : "http://" + HostAndPortText(address.host, address.port);
  fmt::print(stderr, "project-actions: no connection to the server at {}: {}\n",
             RepairUtf8(where, true), why);
  return 1;
}

}  // namespace

int RunConnect(const ConnectCommand& command, const Environment& environment) {
  const Result<std::string> token = ClientToken(environment);
  if (!token) return Failed(command, token.error().Message());
  const Result<UniqueFd> server = ConnectTo(command.address);
  if (!server) return Failed(command, server.error().Message());
  if (auto sent = WriteAll(server->get(), RequestFor(command.address, *token)); !sent) {
    return Failed(command, sent.error().Message());
  }
  const std::expected<std::string, std::string> first = AwaitUpgrade(server->get());
  if (!first) return Failed(command, first.error());
  // Each direction for itself: a client that writes before it reads is waited for by nobody else.
  // The thread ends with the process, as it may wait for a client that says nothing more.
  std::thread([fd = server->get()] {
    static_cast<void>(Pump(STDIN_FILENO, fd));
    shutdown(fd, SHUT_WR);
  }).detach();
  Result<void> passed = WriteAll(STDOUT_FILENO, *first);
  if (passed) passed = Pump(server->get(), STDOUT_FILENO);
  if (passed) return 0;
  return Failed(command, passed.error().Message());
}

}  // namespace pa
