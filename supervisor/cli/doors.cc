#include "supervisor/cli/doors.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/try.h"
#include "base/words.h"
#include "supervisor/loop/log.h"
#include "supervisor/text/loopback_host.h"

namespace pa {
namespace {

constexpr std::chrono::seconds kRevokedWithin{5};

bool IsTcp(const ListeningSocket& socket) {
  return socket.address.kind == ListenAddress::Kind::kTcp;
}

bool IsIpAddress(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const std::string host(text);
  in6_addr any{};
  return inet_pton(AF_INET, host.c_str(), &any) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

}  // namespace

bool IsHostOf(const std::vector<ListeningSocket>& sockets, std::string_view host) {
  return std::ranges::any_of(sockets, [&](const ListeningSocket& socket) {
    if (!IsTcp(socket)) return false;
    const auto& [kind, path, address, port] = socket.address;
    const bool everywhere = address == "0.0.0.0" || address == "::";
    if (IsLoopbackAddress(address) || everywhere) {
      if (IsLoopbackHost(host, port)) return true;
    }
    const std::string suffix = ":" + std::to_string(port);
    if (everywhere && host.ends_with(suffix)) {
      return IsIpAddress(host.substr(0, host.size() - suffix.size()));
    }
    return host == HostAndPortText(address, port);
  });
}

Doors::Doors(const Services& services, ServerState& state, Order order)
    : services_(services),
      state_(state),
      order_(std::move(order)),
      callers_(order_.token_path, order_.user, [this] { return services_.policy(); }),
      sweeper_(services.loop),
      revoked_(services.loop) {
  revoked_.Unref();
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
                return IsHostOf(order_.sockets, host) ||
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
          .on_lines = [this](UniqueFd client,
                             const HttpPeer& peer) { AddLines(std::move(client), peer); }});
  server_.emplace(services.loop, *endpoint_,
                  HttpServerLimits{.request = {.protocol = kLineProtocol}});
}

Doors::~Doors() = default;

Result<void> Doors::Open() {
  if (std::ranges::any_of(order_.sockets, IsTcp)) {
    PA_TRY(const bool known, callers_.CanBeKnown());
    if (!known) {
      return std::unexpected(Error(
          "http:// serves nobody who is not known, and there is no valid token: make one with "
          "`project-actions token new NAME`, or name an issuer in the policy (http.issuer); looked "
          "in",
          order_.token_path));
    }
    EndUnknown();
  }
  for (ListeningSocket& socket : order_.sockets) {
    PA_TRY_VOID(server_->Listen(std::move(socket.fd)));
  }
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
  for (const ListeningSocket& socket : order_.sockets) RemoveSocketFile(socket);
  if (stdio_) stdio_->Close([] {});
}

}  // namespace pa
