// HttpEndpoint: MCP at /mcp (Streamable HTTP), of all revisions. In 2026-07-28 each request is a
// POST, and has an answer or a stream of its own; older revisions have sessions (http_session.h).
//
//    HttpEndpoint endpoint(services, state, {.host_allowed = ..., .identify = ...});
//    HttpServer server(loop, endpoint, {.request = {.protocol = kLineProtocol}});
//    ...
//    server.Close(...);             // first, so that no further request comes
//    endpoint.Shutdown();
//    endpoint.WhenEnded([&] { ... });
//
// At /metrics is how the server is, as OpenMetrics or JSON (supervisor/engine/server_status.h).
// Root, at the other end of a Unix socket, reads that and calls nothing.
//
// A task, a job in the background and a question to the user outlive the request of 2026-07-28 from
// which they come: they go on with the endpoint, and any connection may ask for them. A client of
// that revision that ends the connection of a request cancels it; an older one does not.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string_view>

#include "base/unique_fd.h"
#include "supervisor/engine/server_status.h"
#include "supervisor/engine/services.h"
#include "supervisor/loop/output_gate.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/mcp/http_session.h"
#include "supervisor/mcp/server_state.h"
#include "supervisor/mcp/session.h"
#include "supervisor/transport/http_server.h"
#include "supervisor/transport/transport.h"

namespace pa {

inline constexpr std::size_t kMaxHttpSessions = 64;

struct HttpEndpointOptions {
  // Whether a request by TCP may name this Host, and a page of this Origin may make one. Names of
  // other hosts that lead here are those of somebody's page (DNS rebinding).
  std::function<bool(std::string_view host)> host_allowed;
  std::function<bool(std::string_view origin)> origin_allowed;
  // What a path gives whoever asks, without a token; nothing: it is no such path.
  std::function<std::optional<std::string>(std::string_view path)> metadata;
  // Says in `peer` by which token it is known; an answer: it is not.
  std::function<std::optional<HttpAnswer>(const HttpHead& head, HttpPeer& peer)> identify;
  // What is told at /metrics; not set: nothing is.
  std::function<ServerStatus()> status = {};
  // A client that goes on with lines, by kLineProtocol.
  std::function<void(UniqueFd client, const HttpPeer& peer)> on_lines;
};

// For HttpLimits::protocol. MCP as on stdio: a message is a line.
inline constexpr std::string_view kLineProtocol = "mcp-stdio";

class HttpEndpoint : public HttpHandler {
 public:
  HttpEndpoint(const Services& services, ServerState& state, HttpEndpointOptions options);
  ~HttpEndpoint() override;  // no call may be in flight: see WhenEnded
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

  std::optional<HttpAnswer> Judge(const HttpHead& head, HttpPeer& peer) override;
  void OnRequest(const std::shared_ptr<HttpExchange>& exchange) override;
  void OnRest() override;

  // Ends what clients do whom `known` does not know any more: a token can be revoked.
  void EndUnknown(const std::function<bool(const HttpPeer& peer)>& known);
  void Shutdown();
  void WhenEnded(std::function<void()> callback);
  std::size_t in_flight() const;
  std::size_t sessions() const { return sessions_.size(); }
  std::uint64_t requests() const { return requests_; }  // at /mcp, since it began

 private:
  class Post;
  // The client of messages for which nobody has asked.
  class Nobody final : public Transport {
   public:
    void Send(std::string) override {}
    OutputGate& gate() override { return gate_; }

   private:
    OutputGate gate_;
  };

  HttpAnswer Metrics(const HttpHead& head) const;
  HttpAnswer OtherPath(const HttpHead& head, std::string_view path) const;
  void OnPost(const std::shared_ptr<HttpExchange>& exchange);
  void OnModern(const rpc::Line& line, const rpc::Request& request,
                const std::shared_ptr<HttpExchange>& exchange);
  // `request`: the one message of the line; null: it is none, or they are a batch.
  void OnLegacy(const rpc::Line& line, const rpc::Request* request,
                const std::shared_ptr<HttpExchange>& exchange);
  // That of this request; null: it has been refused.
  HttpSession* SessionOf(HttpExchange& exchange);
  HttpSession* NewSession(HttpExchange& exchange);
  void Sweep();
  void EndIfIdle();

  const Services& services_;
  ServerState& state_;
  HttpEndpointOptions options_;
  Nobody nobody_;
  Session heir_;  // of calls whose requests have their replies
  std::list<std::unique_ptr<Post>> posts_;
  std::list<std::unique_ptr<HttpSession>> sessions_;
  TimerHandle sweeper_;
  std::uint64_t requests_ = 0;
  bool ending_ = false;
  std::function<void()> on_ended_;
};

}  // namespace pa
