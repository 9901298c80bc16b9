#include "supervisor/cli/doors.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/try.h"
#include "base/words.h"
#include "supervisor/loop/log.h"

namespace pa {
namespace {

constexpr std::chrono::seconds kRevokedWithin{5};
constexpr std::chrono::minutes kRetiredWithin{1};

bool IsTcp(const ListeningSocket& socket) {
  return socket.address.kind == ListenAddress::Kind::kTcp;
}

bool IsHostOfThese(const std::vector<ListeningSocket>& sockets, std::string_view host) {
  return std::ranges::any_of(
      sockets, [&](const ListeningSocket& socket) { return IsHostOf(socket.address, host); });
}

std::shared_ptr<const policy::HttpPolicy> HttpPolicyOf(const policy::PolicyPtr& policy) {
  return {policy, &policy->http};
}

}  // namespace

Doors::Doors(const Services& services, ServerState& state, Order order)
    : services_(services),
      state_(state),
      order_(std::move(order)),
      tokens_(order_.token_path, order_.open),
      callers_(
          tokens_, ServedUser(order_.user), [this] { return HttpPolicyOf(services_.policy()); },
          order_.front_door, order_.open),
      sweeper_(services.loop),
      revoked_(services.loop),
      idle_(services.loop),
      retiring_(services.loop) {
  // Not at once: a request is being judged.
  callers_.WhenDoorIsAnother([this] {
    if (!retire_by_) retiring_.Start(std::chrono::milliseconds(0), [this] { Retire(); });
  });
  revoked_.Unref();
  idle_.Unref();  // a server that is told to end would wait for it, up to ten seconds
  if (order_.stdio) {
    stdio_.emplace(services, state, STDIN_FILENO, STDOUT_FILENO, SessionOptions{});
    stdio_ended_ = false;
    stdio_->session().WhenEnding([this] { Shutdown(); });
    stdio_->session().WhenEnded([this] {
      stdio_ended_ = true;
      EndIfIdle();
    });
  }
  if (order_.sockets.empty()) return;
  endpoint_ended_ = server_closed_ = false;
  endpoint_.emplace(
      services, state,
      HttpEndpointOptions{
          .host_allowed =
              [this](std::string_view host) {
                return IsHostOfThese(order_.sockets, host) ||
                       Lowered(host) == services_.policy()->http.public_host;
              },
          .origin_allowed =
              [this](std::string_view origin) {
                const policy::PolicyPtr policy = services_.policy();
                return std::ranges::find(policy->http.origins, Lowered(origin)) !=
                       policy->http.origins.end();
              },
          .metadata = [this](std::string_view path) { return callers_.Metadata(path); },
          .identify = [this](const HttpHead& head,
                             HttpPeer& peer) { return callers_.Identify(head, peer); },
          .status = [this] { return Status(); },
          .on_lines = [this](UniqueFd client,
                             const HttpPeer& peer) { AddLines(std::move(client), peer); }});
  server_.emplace(
      services.loop, *endpoint_,
      HttpServerLimits{.request = {.protocol = kLineProtocol}, .front_door = order_.front_door});
}

Doors::~Doors() = default;

Result<void> Doors::Open() {
  const bool by_tcp = std::ranges::any_of(order_.sockets, IsTcp);
  if (by_tcp) {
    PA_TRY(const bool known, callers_.CanBeKnown());
    if (!known) {
      return std::unexpected(Error(
          "http:// serves nobody who is not known, and there is no valid token: make one with "
          "`project-actions token new NAME`, or name an issuer in the policy (http.issuer); looked "
          "in",
          order_.token_path));
    }
  }
  if (by_tcp || order_.front_door) EndUnknown();
  for (ListeningSocket& socket : order_.sockets) {
    PA_TRY_VOID(server_->Listen(std::move(socket.fd)));
  }
  if (order_.idle_exit && !stdio_) WatchIdle();
  return stdio_ ? stdio_->Start() : Result<void>();
}

void Doors::AddLines(UniqueFd client, const HttpPeer& peer) {
  if (ending_ || lines_.size() >= kMaxLineClients) {
    return LogWarning("too many clients are connected; one more is not served");
  }
  lines_.push_back(std::make_unique<LineSession>(services_, state_, std::move(client), peer));
  LineSession& lines = *lines_.back();
  if (const Result<void> started = lines.Start(); !started) {
    LogWarning(started.error().Message());
    return CloseLines(lines);
  }
  lines.session().WhenEnded([this, &lines] { CloseLines(lines); });
}

// Each request brings its token; what takes longer than a request does not.
void Doors::EndUnknown() {
  const auto known = [this](const HttpPeer& peer) { return callers_.StillKnows(peer); };
  endpoint_->EndUnknown(known);
  for (const auto& lines : lines_) {
    if (!known(lines->peer())) lines->session().Shutdown();
  }
  revoked_.Start(kRevokedWithin, [this] { EndUnknown(); });
}

ServerStatus Doors::Status() {
  ServerStatus status = StatusOf(services_);
  status.connections = server_->connections();
  status.sessions = endpoint_->sessions() + lines_.size();
  status.calls = calls();
  return status;
}

std::size_t Doors::calls() {
  std::size_t all = endpoint_->in_flight();
  for (const auto& lines : lines_) all += lines->session().in_flight();
  if (stdio_) all += stdio_->session().in_flight();
  return all;
}

// The front door is of another release, so the program that the next request starts is, too. Until
// the calls that run have ended nobody is served: a minute at most.
void Doors::Retire() {
  const auto now = std::chrono::steady_clock::now();
  if (ending_) return;
  if (!retire_by_) retire_by_ = now + kRetiredWithin;
  if (calls() == 0 || now >= *retire_by_) return Shutdown();
  retiring_.Start(std::chrono::milliseconds(250), [this] { Retire(); });
}

// A job and a parked call are calls in flight. To read the metrics is not to use the server.
void Doors::WatchIdle() {
  if (ending_) return;
  constexpr std::chrono::milliseconds kAtMost{10'000};
  const auto now = std::chrono::steady_clock::now();
  const bool busy = std::exchange(requests_, endpoint_->requests()) != endpoint_->requests() ||
                    server_->connections() > 0 || !lines_.empty() || endpoint_->sessions() > 0 ||
                    endpoint_->in_flight() > 0;
  if (busy) busy_at_ = now;
  if (now - busy_at_ >= *order_.idle_exit) {
    LogInfo("nothing has been asked for a while: the server ends");
    return Shutdown();
  }
  idle_.Start(std::min(kAtMost, *order_.idle_exit / 4), [this] { WatchIdle(); });
}

void Doors::CloseLines(LineSession& lines) {
  lines.Close([this, &lines] {
    const auto at = std::ranges::find(lines_, &lines, [](const auto& one) { return one.get(); });
    closed_.splice(closed_.end(), lines_, at);
    Sweep();
  });
}

// Not at once: whoever calls this is in the middle of one of them.
void Doors::Sweep() {
  sweeper_.Start(std::chrono::milliseconds(0), [this] {
    closed_.clear();
    EndIfIdle();
  });
}

void Doors::Shutdown() {
  if (std::exchange(ending_, true)) return;
  if (on_ending_) on_ending_();
  if (server_) {
    server_->Close([this] {
      server_closed_ = true;
      EndIfIdle();
    });
    endpoint_->Shutdown();
    endpoint_->WhenEnded([this] {
      endpoint_ended_ = true;
      EndIfIdle();
    });
  }
  if (stdio_) stdio_->session().Shutdown();
  for (const auto& lines : lines_) lines->session().Shutdown();
  Sweep();
}

void Doors::EndIfIdle() {
  if (!ending_ || !stdio_ended_ || !endpoint_ended_ || !server_closed_ || !lines_.empty()) return;
  if (const auto callback = std::exchange(on_ended_, nullptr)) callback();
}

void Doors::Close() {
  for (const ListeningSocket& socket : order_.sockets) order_.remove(socket);
  if (stdio_) stdio_->Close([] {});
}

}  // namespace pa
