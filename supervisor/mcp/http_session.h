// HttpSession: a client of 2025-11-25 or older by HTTP, from its `initialize` to its end.
//
//    HttpSession session(services, state, exchange->peer(), [&] { Sweep(); });
//    session.OnPost(line, exchange);                  // `line` has a request
//    session.OnGet(exchange);
//
// The replies to the requests of a POST, and the messages about these, go to that POST: as JSON if
// one reply is all, else as events of a stream. Other messages go to the stream of a GET. Each
// event has an id; a client whose stream broke names the last one that it got (Last-Event-ID) in a
// GET, and the stream goes on there. A client that goes cancels nothing.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/engine/services.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/mcp/server_state.h"
#include "supervisor/mcp/session.h"
#include "supervisor/transport/http_server.h"
#include "supervisor/transport/rpc.h"

namespace pa {

struct HttpSessionLimits {
  std::size_t events = 256;  // kept of a stream
  std::size_t bytes = 1U << 20;
  std::size_t streams = 64;  // of a session: requests that wait, and what is kept
  std::chrono::milliseconds keep_stream{5 * 60'000};  // whose client has gone
  std::chrono::milliseconds idle{30 * 60'000};
};

class HttpSession {
 public:
  // `peer`: whose session it is. `over`: once, when it has ended, by Shutdown or after a time
  // without a request, a stream or a call.
  HttpSession(const Services& services, ServerState& state, HttpPeer peer,
              std::function<void()> over, HttpSessionLimits limits = {});
  ~HttpSession();  // no call may be in flight: see over()
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  const std::string& id() const { return id_; }  // 128 random bits
  // Whoever else knows the id has no part in it.
  const HttpPeer& peer() const { return peer_; }
  // The same caller has an access token, which may expire later.
  void Renew(const HttpPeer& peer) {
    if (peer.claims && peer_.claims->expires < peer.claims->expires) peer_ = peer;
  }
  Session& session() { return session_; }
  bool ending() const { return ending_; }
  bool over() const { return ending_ && session_.in_flight() == 0; }
  // Whether its client has nothing open and no call runs.
  bool idle() const;
  std::chrono::steady_clock::time_point used() const { return used_; }

  void OnPost(const rpc::Line& line, const std::shared_ptr<HttpExchange>& exchange);
  void OnGet(const std::shared_ptr<HttpExchange>& exchange);
  void Shutdown();

 private:
  class Stream;
  class Route;

  void Resume(const std::string& last, const std::shared_ptr<HttpExchange>& exchange);
  std::vector<std::pair<std::string, std::string>> Fields() const;
  void Look();
  void ForgetStreams();

  HttpSessionLimits limits_;
  std::string id_;
  HttpPeer peer_;
  std::uint64_t next_stream_ = 1;
  std::map<std::uint64_t, std::shared_ptr<Stream>> streams_;
  std::shared_ptr<Stream> unasked_;  // of messages about no request
  Session session_;
  TimerHandle look_;
  std::chrono::steady_clock::time_point used_ = std::chrono::steady_clock::now();
  bool ending_ = false;
};

}  // namespace pa
