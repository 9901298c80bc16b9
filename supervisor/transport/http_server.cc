#include "supervisor/transport/http_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <memory>
#include <new>

#include "base/try.h"
#include "supervisor/loop/log.h"

namespace pa {
namespace {

constexpr std::size_t kReadChunk = 16U << 10;
// Of one connection, before others have their turn.
constexpr std::size_t kWrittenAtOnce = 256U << 10;
constexpr int kAcceptedAtOnce = 16;
// The kernel holds so much for a client that does not read, and as much again.
constexpr int kSendBuffer = 32 << 10;
constexpr std::chrono::milliseconds kPause{100};
constexpr std::chrono::milliseconds kRest{500};
// After an answer that ends the connection: what the client still sends is read, or the kernel
// would answer it with a reset, and the client might lose the answer.
constexpr std::chrono::milliseconds kLinger{2000};
constexpr std::size_t kLingerBytes = 4U << 20;

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string_view Reason(int status) {
  switch (status) {
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Other";
  }
}

// RFC 9110, 6.6.1: `Sun, 06 Nov 1994 08:49:37 GMT`
std::string Date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

std::string HeadOf(int status, std::string_view type, const Fields& fields) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", status, Reason(status), Date());
  if (!type.empty()) head += fmt::format("Content-Type: {}\r\n", type);
  for (const auto& [name, value] : fields) head += fmt::format("{}: {}\r\n", name, value);
  return head;
}

HttpAnswer AnswerTo(const HttpRefusal& refusal) { return PlainAnswer(refusal.status, refusal.why); }

}  // namespace

// RFC 9110, 15.6.4: whoever is told to come back is told when.
HttpAnswer PlainAnswer(int status, std::string_view line, Fields fields) {
  if (status == 503) fields.emplace_back("Retry-After", "2");
  return {.status = status,
          .type = "text/plain; charset=utf-8",
          .body = std::string(line) + "\n",
          .fields = std::move(fields)};
}

void AnswerWaiting(int listener, const HttpAnswer& answer) {
  constexpr int kPatience = 200;  // milliseconds, until a request is there
  constexpr std::chrono::seconds kLongest{2};
  const auto end = std::chrono::steady_clock::now() + kLongest;
  const std::string bytes = HeadOf(answer.status, answer.type, answer.fields) +
                            fmt::format("Content-Length: {}\r\nConnection: close\r\n\r\n{}",
                                        answer.body.size(), answer.body);
  while (std::chrono::steady_clock::now() < end) {
    pollfd waits{.fd = listener, .events = POLLIN, .revents = 0};
    if (poll(&waits, 1, 0) <= 0) return;
    const UniqueFd client(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) return;
    // What is not read would be answered by a reset.
    waits.fd = client.get();
    poll(&waits, 1, kPatience);
    char request[kReadChunk];
    recv(client.get(), request, sizeof request, 0);
    send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
}

struct HttpServer::Listener {
  Listener(uv_loop_t* loop, UniqueFd the_fd) : fd(std::move(the_fd)), pause(loop) {}
  ~Listener() { poll.Close(); }
  UniqueFd fd;
  bool is_unix = false;
  PollHandle poll;
  TimerHandle pause;
};

// The handler's side of a request. It outlives the connection.
class HttpServer::Exchange final : public HttpExchange {
 public:
  Exchange(Connection& connection, HttpHead head, std::string body, HttpPeer peer)
      : connection_(&connection),
        head_(std::move(head)),
        body_(std::move(body)),
        peer_(std::move(peer)) {}

  const HttpHead& head() const override { return head_; }
  const std::string& body() const override { return body_; }
  const HttpPeer& peer() const override { return peer_; }
  void Answer(HttpAnswer answer) override;
  void BeginStream(Fields fields) override;
  void Send(std::string_view events) override;
  void EndStream() override;
  UniqueFd Upgrade() override;
  void Drop() override;
  bool streams() const override { return streams_; }
  OutputGate& gate() override { return gate_; }
  void WhenGone(std::function<void()> callback) override { on_gone_ = std::move(callback); }

  // The exchange has ended: the connection is another request's.
  void Part() {
    connection_ = nullptr;
    on_gone_ = nullptr;
    Open();
  }
  void Gone() {
    connection_ = nullptr;
    const auto callback = std::exchange(on_gone_, nullptr);
    if (callback) callback();
    Open();
  }
  void Open() {
    if (gate_.closed()) gate_.Open();
  }

 private:
  template <typename Act>
  void With(Act act);

  Connection* connection_;
  HttpHead head_;
  std::string body_;
  HttpPeer peer_;
  OutputGate gate_;
  bool streams_ = false;
  std::function<void()> on_gone_;
};

class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpServer& server, UniqueFd client, std::optional<uid_t> user)
      : server_(server),
        client_(std::move(client)),
        user_(user),
        reader_(server.limits_.request),
        deadline_(server.loop_),
        next_(server.loop_) {}
  ~Connection() { poll_.Close(); }

  Result<void> Start() {
    PA_TRY(poll_, PollHandle::Create(server_.loop_, client_.get(), [this] { Turn(); }));
    Await(server_.limits_.head);
    Watch();
    return {};
  }

  // It must be gone from the server's list when this returns.
  void End() {
    phase_ = Phase::kEnded;
    const std::shared_ptr<Exchange> exchange = std::exchange(exchange_, nullptr);
    server_.Remove(this);
    if (exchange) exchange->Gone();
  }

  // No further request, and none of which a part is still to come.
  void Drain() {
    keep_alive_ = false;
    if (phase_ == Phase::kReading) return End();
    if (sent_ < out_.size()) Await(Stall());
  }

  // Tells it and ends.
  void Refuse(const HttpAnswer& answer) {
    keep_alive_ = false;
    Write(Whole(answer, false));
    Finish();
  }

  void Answer(const HttpAnswer& answer) {
    Write(Whole(answer, exchange_->head().method == "HEAD"));
    Finish();
  }
  void BeginStream(Fields fields) {
    fields.emplace_back("Cache-Control", "no-cache");
    fields.emplace_back("X-Accel-Buffering", "no");  // nginx passes on what comes at once
    fields.emplace_back("Transfer-Encoding", "chunked");
    Write(HeadOf(200, "text/event-stream", fields) + Ending());
  }
  void Send(std::string_view events) {
    if (events.empty()) return;  // an empty chunk is the last
    Write(fmt::format("{:x}\r\n{}\r\n", events.size(), events));
  }
  void EndStream() {
    Write("0\r\n\r\n");
    Finish();
  }
  UniqueFd Upgrade() {
    if (reader_.buffered() > 0) {
      Refuse(AnswerTo({400, "nothing may follow an upgrade before it is answered"}));
      return {};
    }
    keep_alive_ = false;
    const std::string head =
        fmt::format("HTTP/1.1 101 {}\r\nConnection: Upgrade\r\nUpgrade: {}\r\n\r\n", Reason(101),
                    server_.limits_.request.protocol);
    const ssize_t put = send(client_.get(), head.data(), head.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent_ < out_.size() || put != static_cast<ssize_t>(head.size())) {
      Drop();
      return {};
    }
    phase_ = Phase::kEnded;
    poll_.Close();
    UniqueFd client = std::move(client_);
    if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->Part();
    const std::shared_ptr<Connection> self = shared_from_this();
    server_.Remove(this);
    return client;
  }
  // Not now: the handler may be in the middle of its answer. It takes no memory.
  void Drop() {
    next_.Start(std::chrono::milliseconds(0), [this] {
      const std::shared_ptr<Connection> self = shared_from_this();
      if (phase_ != Phase::kEnded) End();
    });
  }

 private:
  enum class Phase {
    kReading,    // a request
    kServing,    // the handler has it
    kAnswering,  // what remains of its answer is written
    kLingering,  // nothing is said any more
    kEnded
  };

  void Turn() {
    const std::shared_ptr<Connection> self = shared_from_this();
    try {
      Flush();
      // Requests that are here already come first; a client that sends many waits in the socket.
      if (phase_ == Phase::kReading && reader_.buffered() > 0) Take();
      Read();
      if (phase_ == Phase::kReading) Take();
      Watch();
    } catch (const std::bad_alloc&) {
      LogWarning("not enough memory for a connection of HTTP");
      if (phase_ != Phase::kEnded) End();
    }
  }

  void Await(std::chrono::milliseconds time) {
    deadline_.Start(time, [this] { OnDeadline(); });
  }

  void OnDeadline() {
    const std::shared_ptr<Connection> self = shared_from_this();
    try {
      if (phase_ == Phase::kServing && exchange_->streams() && sent_ == out_.size()) {
        return Send(":\n\n");  // proxies cut a stream that is silent
      }
      if (phase_ == Phase::kReading && reader_.at() != HttpReader::At::kStart) {
        return Refuse(AnswerTo({408, "the request did not come in time"}));
      }
    } catch (const std::bad_alloc&) {
      LogWarning("not enough memory for a connection of HTTP");
    }
    End();
  }

  // A client that reads nothing delays the end of the server only a little.
  std::chrono::milliseconds Stall() const {
    return server_.closing_ ? std::min(server_.limits_.stall, server_.limits_.stall_at_end)
                            : server_.limits_.stall;
  }

  bool Reads() const {
    const bool wants = phase_ == Phase::kReading || phase_ == Phase::kLingering;
    // Beyond that, who sends more requests than are answered waits, and who reads no answer sends
    // nothing.
    const bool may = phase_ != Phase::kEnded && sent_ == out_.size();
    return wants || (may && reader_.buffered() < kReadChunk);
  }

  void Read() {
    if (phase_ == Phase::kEnded || !Reads()) return;
    // Not on the stack, of which a server that waits would keep each page.
    const auto chunk = std::make_unique_for_overwrite<char[]>(kReadChunk);
    // As recv, of which clang's analyzer believes that it always waits.
    const ssize_t got =
        recvfrom(client_.get(), chunk.get(), kReadChunk, MSG_DONTWAIT, nullptr, nullptr);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    // The end of what it says is the end of its interest: it may not say that it reads on.
    if (got <= 0) return End();
    if (phase_ == Phase::kLingering) {
      lingered_ += static_cast<std::size_t>(got);
      if (lingered_ > kLingerBytes) End();
      return;
    }
    const bool begins = phase_ == Phase::kReading && reader_.at() == HttpReader::At::kStart &&
                        reader_.buffered() == 0 && served_;
    reader_.Append(std::string_view(chunk.get(), static_cast<std::size_t>(got)));
    if (begins) Await(server_.limits_.head);
  }

  // The next request, if all of it is there.
  void Take() {
    if (!head_) {
      auto head = reader_.ReadHead();
      if (!head) return;
      if (!*head) return Refuse(AnswerTo(head->error()));
      head_ = *std::move(*head);
      if (!head_->keep_alive || server_.closing_) keep_alive_ = false;
      if (head_->version_1_0) return Refuse(AnswerTo({505, "only HTTP/1.1 is served here"}));
      peer_ = {.user = user_};
      if (auto refused = server_.handler_.Judge(*head_, peer_)) {
        if (head_->has_body) keep_alive_ = false;
        if (keep_alive_) reader_.ReadBody();  // which is empty
        Write(Whole(*refused, head_->method == "HEAD"));
        return Finish();
      }
      if (head_->expects_continue) Write("HTTP/1.1 100 Continue\r\n\r\n");
      Await(server_.limits_.body);
    }
    auto body = reader_.ReadBody();
    if (!body) return;
    if (!*body) return Refuse(AnswerTo(body->error()));
    deadline_.Stop();
    phase_ = Phase::kServing;
    exchange_ = std::make_shared<Exchange>(*this, *std::exchange(head_, std::nullopt),
                                           **std::move(body), peer_);
    server_.handler_.OnRequest(exchange_);
  }

  std::string Ending() const { return keep_alive_ ? "\r\n" : "Connection: close\r\n\r\n"; }

  std::string Whole(const HttpAnswer& answer, bool only_head) const {
    std::string bytes =
        HeadOf(answer.status, answer.body.empty() ? "" : answer.type, answer.fields);
    bytes += fmt::format("Content-Length: {}\r\n", answer.body.size()) + Ending();
    bytes.reserve(bytes.size() + answer.body.size());
    if (!only_head) bytes += answer.body;
    return bytes;
  }

  // The usual case: the socket has room, nothing needs to be kept.
  void Write(std::string bytes) {
    if (phase_ == Phase::kEnded) return;
    const bool was_empty = sent_ == out_.size();
    if (was_empty) {
      out_ = std::move(bytes);
      sent_ = 0;
    } else {
      out_ += bytes;
    }
    if (was_empty) {
      Flush();
      if (phase_ == Phase::kEnded) return;
      if (sent_ < out_.size()) Await(Stall());
    }
    if (out_.size() - sent_ > server_.limits_.gate_closes && exchange_) exchange_->gate().Close();
    Watch();
  }

  void Flush() {
    std::size_t written = 0;
    while (sent_ < out_.size() && written < kWrittenAtOnce) {
      const ssize_t put =
          send(client_.get(), out_.data() + sent_, std::min(out_.size() - sent_, kWrittenAtOnce),
               MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put < 0 && (errno == EAGAIN || errno == EINTR)) break;
      if (put < 0) {
        sent_ = out_.size();
        return Drop();
      }
      sent_ += static_cast<std::size_t>(put);
      written += static_cast<std::size_t>(put);
    }
    if (written == 0) return;
    if (sent_ < out_.size()) {
      Await(Stall());
      if (sent_ > kWrittenAtOnce) out_.erase(0, std::exchange(sent_, 0));
    } else {
      std::string().swap(out_);  // an assignment would keep the memory of the longest answer
      sent_ = 0;
      OnWritten();
    }
    if (exchange_ && out_.size() - sent_ < server_.limits_.gate_opens) exchange_->Open();
  }

  void OnWritten() {
    if (phase_ == Phase::kAnswering) return Next();
    if (phase_ != Phase::kServing) return;
    exchange_->streams() ? Await(server_.limits_.comment) : deadline_.Stop();
  }

  // The answer is complete.
  void Finish() {
    if (phase_ == Phase::kEnded) return;
    phase_ = Phase::kAnswering;
    head_.reset();
    if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->Part();
    if (sent_ == out_.size()) Next();
  }

  // All is written: the next request, or the end.
  void Next() {
    served_ = true;
    if (server_.closing_) keep_alive_ = false;
    if (!keep_alive_) {
      phase_ = Phase::kLingering;
      shutdown(client_.get(), SHUT_WR);
      Await(kLinger);
      return;
    }
    phase_ = Phase::kReading;
    if (reader_.buffered() == 0) return Await(server_.limits_.idle);
    // It was sent together with the last one. Others have their turn first.
    Await(server_.limits_.head);
    next_.Start(std::chrono::milliseconds(0), [this] { Turn(); });
  }

  void Watch() {
    if (phase_ == Phase::kEnded) return;
    const int events = (Reads() ? UV_READABLE : 0) | (sent_ < out_.size() ? UV_WRITABLE : 0);
    events == 0 ? poll_.Stop() : poll_.Start(events);
  }

  HttpServer& server_;
  UniqueFd client_;
  const std::optional<uid_t> user_;  // at the other end of a Unix socket
  HttpPeer peer_;                    // of the request
  HttpReader reader_;
  PollHandle poll_;
  TimerHandle deadline_;
  TimerHandle next_;
  Phase phase_ = Phase::kReading;
  std::optional<HttpHead> head_;  // of a request whose body is awaited
  std::shared_ptr<Exchange> exchange_;
  std::string out_;
  std::size_t sent_ = 0;  // of out_
  std::size_t lingered_ = 0;
  bool keep_alive_ = true;
  bool served_ = false;  // a request before this one
};

template <typename Act>
void HttpServer::Exchange::With(Act act) {
  if (connection_ == nullptr) return;
  try {
    act(*connection_);
  } catch (const std::bad_alloc&) {
    Drop();
  }
}

void HttpServer::Exchange::Answer(HttpAnswer answer) {
  With([&](Connection& connection) { connection.Answer(answer); });
}
void HttpServer::Exchange::BeginStream(Fields fields) {
  streams_ = true;
  With([&](Connection& connection) { connection.BeginStream(std::move(fields)); });
}
void HttpServer::Exchange::Send(std::string_view events) {
  With([&](Connection& connection) { connection.Send(events); });
}
void HttpServer::Exchange::EndStream() {
  With([](Connection& connection) { connection.EndStream(); });
}
UniqueFd HttpServer::Exchange::Upgrade() {
  UniqueFd client;
  With([&](Connection& connection) { client = connection.Upgrade(); });
  return client;
}
void HttpServer::Exchange::Drop() {
  if (connection_ != nullptr) connection_->Drop();
}

HttpServer::HttpServer(uv_loop_t* loop, HttpHandler& handler, HttpServerLimits limits)
    : loop_(loop), handler_(handler), limits_(limits), rest_(loop) {
  rest_.Unref();
}

HttpServer::~HttpServer() {
  on_closed_ = nullptr;
  listeners_.clear();
  while (!connections_.empty()) std::shared_ptr(connections_.front())->End();
}

Result<void> HttpServer::Listen(UniqueFd listener) {
  auto fresh = std::make_unique<Listener>(loop_, std::move(listener));
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(fresh->fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return std::unexpected(Error("getsockname", "a socket that listens", errno));
  }
  fresh->is_unix = address.ss_family == AF_UNIX;
  // systemd passes sockets on that block.
  const int flags = fcntl(fresh->fd.get(), F_GETFL);
  if (flags < 0 || fcntl(fresh->fd.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return std::unexpected(Error("fcntl", "a socket that listens", errno));
  }
  PA_TRY(fresh->poll,
         PollHandle::Create(loop_, fresh->fd.get(), [this, self = fresh.get()] { Accept(*self); }));
  fresh->poll.Start();
  listeners_.push_back(std::move(fresh));
  return {};
}

void HttpServer::Accept(Listener& listener) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    UniqueFd client(accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)) {
      // It stays there, and would wake us at once.
      listener.poll.Stop();
      listener.pause.Start(kPause, [&listener] { listener.poll.Start(); });
    }
    if (!client) return;
    try {
      Admit(std::move(client), listener.is_unix);
    } catch (const std::bad_alloc&) {
      LogWarning("not enough memory for a connection of HTTP");
    }
  }
}

void HttpServer::Admit(UniqueFd client, bool is_unix) {
  std::optional<uid_t> user;
  setsockopt(client.get(), SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
  if (is_unix) {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    const int known = getsockopt(client.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size);
    const bool served = credentials.uid == geteuid() || credentials.uid == 0 ||
                        limits_.front_door == credentials.uid;
    if (known != 0 || !served) return LogInfo("a connection is not this user's");
    user = credentials.uid;
  } else {
    constexpr int kOn = 1;
    setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof kOn);
    setsockopt(client.get(), SOL_SOCKET, SO_KEEPALIVE, &kOn, sizeof kOn);
  }
  const bool full = connections_.size() >= limits_.connections;
  auto connection = std::make_shared<Connection>(*this, std::move(client), user);
  if (const Result<void> started = connection->Start(); !started) {
    return LogWarning(started.error().Message());
  }
  connections_.push_back(connection);
  if (full) connection->Refuse(AnswerTo({503, "too many connections"}));
}

void HttpServer::Remove(const Connection* connection) {
  connections_.remove_if([&](const auto& one) { return one.get() == connection; });
  if (connections_.empty()) rest_.Start(kRest, [this] { Rest(); });
  EndIfIdle();
}

void HttpServer::Rest() {
  if (connections_.empty()) handler_.OnRest();
}

void HttpServer::Close(std::function<void()> done) {
  closing_ = true;
  on_closed_ = std::move(done);
  listeners_.clear();
  for (const auto& connection : std::list(connections_)) connection->Drain();
  EndIfIdle();
}

void HttpServer::EndIfIdle() {
  if (closing_ && connections_.empty() && on_closed_) std::exchange(on_closed_, nullptr)();
}

}  // namespace pa
