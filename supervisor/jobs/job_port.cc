#include "supervisor/jobs/job_port.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "base/try.h"
#include "supervisor/jobs/peer_user.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/within_memory.h"
#include "supervisor/text/http_request.h"
#include "supervisor/text/loopback_host.h"

namespace pa {
namespace {

constexpr int kBacklog = 64;
constexpr std::chrono::seconds kHeadPatience{10};
constexpr std::size_t kChunk = 64U << 10;
constexpr std::chrono::milliseconds kPause{100};
constexpr int kRounds = 4;  // of one connection, before others have their turn
// Of the first request only the head is read here; how long the rest may be is the job's to say.
constexpr HttpLimits kFirstRequest = {.target = HttpLimits().head,
                                      .body = std::numeric_limits<std::size_t>::max() / 2,
                                      .any_protocol = true};

Result<UniqueFd> Listen(std::uint16_t& port) {
  UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  if (!listener || bind(listener.get(), name, size) != 0 || listen(listener.get(), kBacklog) != 0 ||
      getsockname(listener.get(), name, &size) != 0) {
    return std::unexpected(Error("listen", "127.0.0.1", errno));
  }
  port = ntohs(address.sin_port);
  return listener;
}

// Whether the kernel can tell: of a connection with ourselves.
Result<void> TryPeerUser(int listener, std::uint16_t port) {
  const UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!client ||
      connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return std::unexpected(Error("connect", "127.0.0.1", errno));
  }
  const UniqueFd accepted(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!accepted) return std::unexpected(Error("accept", "127.0.0.1", errno));
  PA_TRY(const uid_t user, UserOfPeer(accepted.get()));
  if (user == geteuid()) return {};
  return std::unexpected(Error("sock_diag", "peer of a connection", EPROTONOSUPPORT));
}

std::string HttpAnswer(std::string_view status, std::string_view why) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n"
      "{}\n",
      status, why.size() + 1, why);
}

}  // namespace

// From the first byte of a client to the last of either side.
class JobPort::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(JobPort& port, UniqueFd client)
      : port_(port), client_(std::move(client)), patience_(port.loop_) {}

  Result<void> Start() {
    PA_TRY(client_poll_, PollHandle::Create(port_.loop_, client_.get(), [this] { Turn(); }));
    client_poll_.Start();
    patience_.Start(kHeadPatience, [this] { port_.Remove(this); });
    return {};
  }

 private:
  // One direction.
  struct Way {
    std::string bytes;  // read, and not written yet
    bool ended = false;
    bool told = false;  // that it has ended
  };

  void Turn() {
    const std::shared_ptr<Connection> self = shared_from_this();
    try {
      const bool goes_on = server_ ? Pump() : ReadHead();
      if (!goes_on) port_.Remove(this);
    } catch (const std::bad_alloc&) {
      port_.Remove(this);
    }
  }

  // False: it is over.
  bool ReadHead() {
    const std::size_t before = in_.bytes.size();
    if (!Read(client_.get(), in_)) return false;
    head_.Append(std::string_view(in_.bytes).substr(before));
    const auto head = head_.ReadHead();
    if (!head) return !in_.ended;
    if (!*head) return Refuse("400 Bad Request", head->error().why);
    if (!IsLoopbackHost(*(*head)->Find("host"), port_.outer_)) {
      return Refuse("421 Misdirected Request", "the Host of the request is not this server");
    }
    patience_.Stop();
    client_poll_.Stop();
    HasOwnNetwork* const network = port_.network_();
    if (network == nullptr) return Refuse("502 Bad Gateway", "the job does not run");
    const auto no_memory = []() -> Result<UniqueFd> {
      return std::unexpected(Error("connect", "the job", ENOMEM));
    };
    Detach(WithinMemory(network->Connect(port_.inner_), no_memory),
           [weak = weak_from_this()](Result<UniqueFd> server) {
             if (const auto self = weak.lock()) self->OnConnected(std::move(server));
           });
    return true;
  }

  void OnConnected(Result<UniqueFd>&& server) {
    try {
      if (Connected(server)) return Turn();
    } catch (const std::bad_alloc&) {
      LogWarning("not enough memory to serve a connection to the port of a job");
    }
    port_.Remove(this);
  }

  bool Connected(Result<UniqueFd>& server) {
    if (!server) return Refuse("502 Bad Gateway", "nobody listens on this port in the job");
    server_ = *std::move(server);
    auto poll = PollHandle::Create(port_.loop_, server_.get(), [this] { Turn(); });
    if (poll) server_poll_ = *std::move(poll);
    return bool(server_poll_);
  }

  // As far as it goes without waiting: who does not read it has not asked as a browser does.
  bool Refuse(std::string_view status, std::string_view why) const {
    const std::string answer = HttpAnswer(status, why);
    (void)send(client_.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(client_.get(), SHUT_WR);
    return false;
  }

  // What is there, if there is room. False: the connection is broken.
  static bool Read(int from, Way& way) {
    const std::size_t before = way.bytes.size();
    if (way.ended || before >= kChunk) return true;
    way.bytes.resize(kChunk);
    // As recv, of which clang's analyzer believes that it always waits.
    const ssize_t got =
        recvfrom(from, way.bytes.data() + before, kChunk - before, MSG_DONTWAIT, nullptr, nullptr);
    way.bytes.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) way.ended = true;
    return got >= 0 || errno == EAGAIN || errno == EINTR;
  }

  static bool Write(int to, Way& way) {
    if (!way.bytes.empty()) {
      const ssize_t put = send(to, way.bytes.data(), way.bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put < 0 && errno != EAGAIN && errno != EINTR && errno != ENOTCONN) return false;
      if (put > 0) way.bytes.erase(0, static_cast<std::size_t>(put));
    }
    if (way.ended && way.bytes.empty() && !std::exchange(way.told, true)) shutdown(to, SHUT_WR);
    return true;
  }

  bool Pump() {
    for (int round = 0; round < kRounds; ++round) {
      const std::size_t before = in_.bytes.size() + out_.bytes.size();
      if (!Read(client_.get(), in_) || !Write(server_.get(), in_)) return false;
      if (!Read(server_.get(), out_) || !Write(client_.get(), out_)) return false;
      if (in_.bytes.size() + out_.bytes.size() == before) break;
    }
    if (in_.told && out_.told) return false;
    Watch(client_poll_, in_, out_);
    Watch(server_poll_, out_, in_);
    return true;
  }

  // The end that `from` comes from and `to` goes to.
  static void Watch(PollHandle& poll, const Way& from, const Way& to) {
    const bool readable = !from.ended && from.bytes.size() < kChunk;
    const int events = (readable ? UV_READABLE : 0) | (to.bytes.empty() ? 0 : UV_WRITABLE);
    if (events == 0) return poll.Stop();
    poll.Start(events);
  }

  JobPort& port_;
  UniqueFd client_;
  UniqueFd server_;
  PollHandle client_poll_;
  PollHandle server_poll_;
  TimerHandle patience_;
  HttpReader head_{kFirstRequest};
  Way in_;   // from the client
  Way out_;  // to it
};

Result<std::unique_ptr<JobPort>> JobPort::Open(uv_loop_t* loop, std::uint16_t inner,
                                               Network network) {
  std::uint16_t outer = 0;
  PA_TRY(UniqueFd listener, Listen(outer));
  PA_TRY_VOID(TryPeerUser(listener.get(), outer));
  std::unique_ptr<JobPort> port(
      new JobPort(loop, inner, outer, std::move(listener), std::move(network)));
  PA_TRY(port->poll_,
         PollHandle::Create(loop, port->listener_.get(), [self = port.get()] { self->Accept(); }));
  port->poll_.Start();
  return port;
}

JobPort::JobPort(uv_loop_t* loop, std::uint16_t inner, std::uint16_t outer, UniqueFd listener,
                 Network network)
    : loop_(loop),
      inner_(inner),
      outer_(outer),
      network_(std::move(network)),
      listener_(std::move(listener)),
      pause_(loop) {}

JobPort::~JobPort() { poll_.Close(); }

// Another user's process, and whatever the kernel cannot tell of, is hung up on.
void JobPort::Accept() {
  UniqueFd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!client && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)) {
    // It stays there, and would wake us at once.
    poll_.Stop();
    pause_.Start(kPause, [this] { poll_.Start(); });
  }
  if (!client || connections_.size() >= kMaxConnectionsOfAPort) return;
  try {
    const Result<uid_t> user = UserOfPeer(client.get());
    if (!user || *user != geteuid()) {
      return LogInfo("a connection to the port of a job is not this user's: " +
                     (user ? "user " + std::to_string(*user) : user.error().Message()));
    }
    auto connection = std::make_shared<Connection>(*this, std::move(client));
    if (connection->Start()) connections_.push_back(std::move(connection));
  } catch (const std::bad_alloc&) {
    LogWarning("not enough memory to serve a connection to the port of a job");
  }
}

void JobPort::Remove(const Connection* connection) {
  connections_.remove_if([&](const auto& one) { return one.get() == connection; });
}

}  // namespace pa
