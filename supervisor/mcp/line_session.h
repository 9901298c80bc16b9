// LineSession: a client that sends each message on a line, on a pair of descriptors: the process
// that started the server, or one that has upgraded a connection of HTTP (`connect`).
//
//    LineSession client(services, state, STDIN_FILENO, STDOUT_FILENO, {.endpoint = "stdio"});
//    client.session().WhenEnded([&] { client.Close([&] { ... }); });
//    Result<void> started = client.Start();
#pragma once

#include <functional>
#include <utility>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/engine/services.h"
#include "supervisor/mcp/http_headers.h"
#include "supervisor/mcp/server_state.h"
#include "supervisor/mcp/session.h"
#include "supervisor/transport/http_server.h"
#include "supervisor/transport/stdio_transport.h"

namespace pa {

class LineSession {
 public:
  // Borrows the descriptors.
  LineSession(const Services& services, ServerState& state, int in, int out, SessionOptions options)
      : transport_(services.loop, in, out),
        session_(services, state, transport_, std::move(options)) {}
  // Of a client of HTTP.
  LineSession(const Services& services, ServerState& state, UniqueFd socket, const HttpPeer& peer)
      : peer_(peer),
        socket_(std::move(socket)),
        transport_(services.loop, socket_.get(), socket_.get()),
        session_(services, state, transport_, CallerOf(peer)) {}

  const HttpPeer& peer() const { return peer_; }
  Result<void> Start() { return transport_.Start(session_); }
  Session& session() { return session_; }
  // Once no call is in flight: writes what is queued, for a while. It can go when `done` is called.
  void Close(std::function<void()> done) { transport_.Close(std::move(done)); }

 private:
  HttpPeer peer_;
  UniqueFd socket_;
  StdioTransport transport_;
  Session session_;
};

}  // namespace pa
