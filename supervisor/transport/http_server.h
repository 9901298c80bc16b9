// HttpServer: HTTP/1.1 on sockets that listen. Each request gets one answer, or a stream of events.
//
//    class Door : public HttpHandler {
//      std::optional<HttpAnswer> Judge(const HttpHead& head, HttpPeer& peer) override;
//      void OnRequest(const std::shared_ptr<HttpExchange>& exchange) override;
//    };
//    HttpServer server(loop, door);
//    Result<void> listens = server.Listen(std::move(fd));
//    ...
//    server.Close([&] { ... });       // when each request that was read is answered
//
// A connection has one request at a time; further ones wait in the socket. Deadlines are absolute,
// so that nobody holds a connection by a byte now and then. SIGPIPE must be ignored.
#pragma once

#include <sys/types.h>
#include <uv.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/loop/output_gate.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/text/http_request.h"
#include "supervisor/text/jwt.h"

namespace pa {

struct HttpServerLimits {
  HttpLimits request = {};
  std::size_t connections = 1024;                 // one more is told 503
  std::chrono::milliseconds head{10'000};         // from the first byte, or the beginning
  std::chrono::milliseconds body{30'000};         // from the end of the head
  std::chrono::milliseconds idle{60'000};         // between two requests
  std::chrono::milliseconds stall{30'000};        // the client reads nothing of what waits for it
  std::chrono::milliseconds stall_at_end{2'000};  // the same, while the server ends
  std::chrono::milliseconds comment{15'000};      // a stream is not silent for longer
  std::size_t gate_closes = 32U << 10;            // bytes that wait for the client
  std::size_t gate_opens = 8U << 10;
  // The user of a front door (docs/daemon.md), which is served by Unix sockets as this user is.
  std::optional<uid_t> front_door = {};
};

struct HttpPeer {
  // Of a Unix socket; nothing: it came by TCP, or by a front door, which has said who it is.
  std::optional<uid_t> user;
  // The name of the token by which Judge knows the client, or its subject; "": by none.
  std::string token = {};
  std::string token_hash = {};  // SHA-256, in hexadecimal digits; "": it is an access token
  // Of an access token (OAuth): its claims, and the key that has signed it, in hexadecimal digits.
  std::shared_ptr<const JwtClaims> claims = {};
  std::string key = {};

  std::string_view Issuer() const { return claims ? std::string_view(claims->issuer) : ""; }
  // Access tokens are replaced every hour or so: the issuer and the subject are who it is.
  bool IsSameCaller(const HttpPeer& other) const {
    return user == other.user && token == other.token && token_hash == other.token_hash &&
           Issuer() == other.Issuer();
  }
};

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> fields = {};
};

// One line for people, without its end. With 503 a time to come back.
HttpAnswer PlainAnswer(int status, std::string_view line,
                       std::vector<std::pair<std::string, std::string>> fields = {});

// For a server that cannot start: whoever waits at the socket has this answer, for two seconds at
// most, so that nobody waits for the next attempt, and systemd does not make that at once.
void AnswerWaiting(int listener, const HttpAnswer& answer);

// A request and its answer. All is ignored once the client has gone. Without memory for an answer
// the connection ends.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual const HttpHead& head() const = 0;
  virtual const std::string& body() const = 0;
  virtual const HttpPeer& peer() const = 0;

  virtual void Answer(HttpAnswer answer) = 0;  // ends the exchange
  // Instead: 200 with text/event-stream. The fields are added.
  virtual void BeginStream(std::vector<std::pair<std::string, std::string>> fields) = 0;
  virtual void Send(std::string_view events) = 0;  // as they are written to the stream
  virtual void EndStream() = 0;                    // ends the exchange
  // Instead, where the head upgrades: 101, after which the connection is the caller's. Not open:
  // the client has gone, or has sent something before it had this answer; the exchange has ended.
  virtual UniqueFd Upgrade() = 0;
  // Ends the connection, soon: there is no memory for the answer.
  virtual void Drop() = 0;
  virtual bool streams() const = 0;  // BeginStream was called
  virtual OutputGate& gate() = 0;    // closed while the client does not read
  // Once, if the client goes before the exchange has ended, or reads nothing for too long.
  virtual void WhenGone(std::function<void()> callback) = 0;
};

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Before the body is read. An answer: nothing else comes of this request. Says in `peer` who it
  // is.
  virtual std::optional<HttpAnswer> Judge(const HttpHead& head, HttpPeer& peer) = 0;
  virtual void OnRequest(const std::shared_ptr<HttpExchange>& exchange) = 0;
  // There has been no connection for half a second.
  virtual void OnRest() {}
};

class HttpServer {
 public:
  HttpServer(uv_loop_t* loop, HttpHandler& handler, HttpServerLimits limits = {});
  ~HttpServer();  // ends all connections at once
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // A socket of TCP or Unix that listens; it becomes non-blocking. Of the latter, only processes of
  // this user, of the front door's and of root are served; the handler judges what they may.
  Result<void> Listen(UniqueFd listener);
  // No further connection and no further request; `done` when the last exchange has ended.
  void Close(std::function<void()> done);
  std::size_t connections() const { return connections_.size(); }

 private:
  class Connection;
  class Exchange;
  struct Listener;

  void Accept(Listener& listener);
  void Admit(UniqueFd client, bool is_unix);
  void Remove(const Connection* connection);
  void EndIfIdle();
  void Rest();

  uv_loop_t* loop_;
  HttpHandler& handler_;
  HttpServerLimits limits_;
  std::list<std::unique_ptr<Listener>> listeners_;
  std::list<std::shared_ptr<Connection>> connections_;
  bool closing_ = false;
  std::function<void()> on_closed_;
  TimerHandle rest_;
};

}  // namespace pa
