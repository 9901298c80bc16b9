#include "supervisor/mcp/http_endpoint.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <variant>

#include "base/words.h"
#include "supervisor/mcp/http_headers.h"
#include "supervisor/transport/rpc.h"

namespace pa {
namespace {

constexpr std::string_view kPath = "/mcp";
constexpr std::string_view kMetricsPath = "/metrics";
constexpr std::string_view kSessionField = "mcp-session-id";

// Whether the list `accept` (RFC 9110, 12.5.1) has this type, or all. Weights are not read: a
// client that names a type takes it.
bool Accepts(std::string_view accept, std::string_view type) {
  const std::string family = std::string(type.substr(0, type.find('/'))) + "/*";
  for (const std::string_view part : SplitWords(accept, ",")) {
    const std::string range = MediaTypeOf(part);
    if (range == type || range == "*/*" || range == family) return true;
  }
  return false;
}

// Of an answer that is an error of JSON-RPC. Whatever is wrong with the params of a known method is
// told in the body alone.
int StatusOf(int error) {
  switch (error) {
    case rpc::kMethodNotFound:
      return 404;
    case rpc::kParseError:
    case rpc::kInvalidRequest:
    case rpc::kHeaderMismatch:
    case rpc::kMissingCapability:
    case rpc::kUnsupportedVersion:
      return 400;
    default:
      return 200;
  }
}

void Refuse(HttpExchange& exchange, const rpc::Failure& failure) {
  exchange.Answer({.status = 400, .body = rpc::ErrorLine(failure.id, failure)});
}

}  // namespace

// One request: its session, and where the answer goes.
class HttpEndpoint::Post final : public Transport {
 public:
  Post(HttpEndpoint& endpoint, std::shared_ptr<HttpExchange> exchange)
      : endpoint_(endpoint),
        exchange_(std::move(exchange)),
        session(endpoint.services_, endpoint.state_, *this, OptionsOf(endpoint, *exchange_)) {}

  void Send(std::string line) override {
    if (!answered) Say(line);
  }
  void Reply(std::string line, int error) override {
    if (std::exchange(answered, true)) return;
    if (exchange_->streams()) {
      Say(line);
      exchange_->EndStream();
    } else {
      exchange_->Answer({.status = StatusOf(error), .body = std::move(line)});
    }
    endpoint_.Sweep();
  }
  OutputGate& gate() override { return exchange_->gate(); }
  const HttpPeer& peer() const { return exchange_->peer(); }

 private:
  static SessionOptions OptionsOf(HttpEndpoint& endpoint, const HttpExchange& exchange) {
    SessionOptions options = CallerOf(exchange.peer());
    options.heir = &endpoint.heir_;
    return options;
  }
  void Say(std::string_view line) {
    try {
      if (!exchange_->streams()) exchange_->BeginStream({});
      exchange_->Send(fmt::format("event: message\ndata: {}\n\n", line));
    } catch (const std::bad_alloc&) {
      exchange_->Drop();
    }
  }

  HttpEndpoint& endpoint_;
  std::shared_ptr<HttpExchange> exchange_;

 public:
  bool answered = false;
  Session session;
};

HttpEndpoint::HttpEndpoint(const Services& services, ServerState& state,
                           HttpEndpointOptions options)
    : services_(services),
      state_(state),
      options_(std::move(options)),
      heir_(services, state, nobody_, {.endpoint = "http"}),
      sweeper_(services.loop) {
  state.keeper = &heir_;
}

HttpEndpoint::~HttpEndpoint() { state_.keeper = nullptr; }

std::optional<HttpAnswer> HttpEndpoint::Judge(const HttpHead& head, HttpPeer& peer) {
  // No page and no name of a host leads to a Unix socket.
  if (!peer.user && !options_.host_allowed(*head.Find("host"))) {
    return PlainAnswer(403, "the Host of the request is none of this server");
  }
  if (const std::string* origin = head.Find("origin");
      origin != nullptr && !options_.origin_allowed(*origin)) {
    return PlainAnswer(403, "pages of this Origin may not use this server");
  }
  const std::string_view target = head.target;
  const std::string_view path = target.substr(0, target.find('?'));
  const bool metrics = path == kMetricsPath && options_.status;
  if (path != kPath && !metrics) return OtherPath(head, path);
  if (peer.user == uid_t{0} && geteuid() != 0 && !metrics) {
    return PlainAnswer(403,
                       "root may read /metrics here, and calls as root by a server of its own");
  }
  if (auto refused = options_.identify(head, peer)) return refused;
  if (metrics) return Metrics(head);
  ++requests_;
  if (head.method != "POST" && head.method != "GET" && head.method != "DELETE") {
    return PlainAnswer(405, "MCP is spoken by POST, GET and DELETE",
                       {{"Allow", "POST, GET, DELETE"}});
  }
  if (head.method == "DELETE" || head.upgrades) return std::nullopt;
  const std::string* const type = head.Find("content-type");
  if (head.method == "POST" && (type == nullptr || MediaTypeOf(*type) != "application/json")) {
    return PlainAnswer(415, "the Content-Type must be application/json");
  }
  const std::string* const accept = head.Find("accept");
  const auto accepts = [&](const char* needed) {
    return accept != nullptr && Accepts(*accept, needed);
  };
  if (!accepts("text/event-stream") || (head.method == "POST" && !accepts("application/json"))) {
    return PlainAnswer(406, "Accept must name application/json and text/event-stream");
  }
  return std::nullopt;
}

// Prometheus names what it takes; whoever takes all gets what people can read.
HttpAnswer HttpEndpoint::Metrics(const HttpHead& head) const {
  if (head.method != "GET") return PlainAnswer(405, "metrics are read by GET", {{"Allow", "GET"}});
  const std::string* const accept = head.Find("accept");
  if (accept != nullptr && MediaTypeOf(*accept) == "application/json") {
    return {.body = FormatStatus(options_.status())};
  }
  OpenMetrics metrics;
  AddMetrics(metrics, {{{}, options_.status()}});
  return {.type = std::string(kOpenMetricsType), .body = std::move(metrics).Take()};
}

HttpAnswer HttpEndpoint::OtherPath(const HttpHead& head, std::string_view path) const {
  std::optional<std::string> document = options_.metadata ? options_.metadata(path) : std::nullopt;
  if (!document) return PlainAnswer(404, "MCP is at /mcp");
  if (head.method != "GET") return PlainAnswer(405, "this is read by GET", {{"Allow", "GET"}});
  return {.body = *std::move(document)};
}

// One machine has as many servers that wait as it has tenants: the list and what answers were made
// in are a fifth of the memory of each that is its own.
void HttpEndpoint::OnRest() {
  std::exchange(state_.tool_list, {});  // an assignment would keep its memory
  services_.runner.Rest();
  malloc_trim(0);
}

void HttpEndpoint::OnRequest(const std::shared_ptr<HttpExchange>& exchange) {
  if (ending_) return exchange->Answer(PlainAnswer(503, "the server is shutting down"));
  if (exchange->head().upgrades) {
    UniqueFd client = exchange->Upgrade();
    if (client) options_.on_lines(std::move(client), exchange->peer());
    return;
  }
  if (exchange->head().method == "POST") return OnPost(exchange);
  HttpSession* const session = SessionOf(*exchange);
  if (session == nullptr) return;
  if (exchange->head().method == "GET") return session->OnGet(exchange);
  exchange->Answer({});
  session->Shutdown();
}

void HttpEndpoint::OnPost(const std::shared_ptr<HttpExchange>& exchange) {
  const rpc::Line line = rpc::ParseLine(exchange->body());
  const rpc::Parsed& first = line.messages.front();
  const auto* const request = first && !line.batch ? std::get_if<rpc::Request>(&*first) : nullptr;
  if (!first && !line.batch) return Refuse(*exchange, first.error());
  if (request != nullptr && IsModernRequest(exchange->head(), *request)) {
    return OnModern(line, *request, exchange);
  }
  OnLegacy(line, request, exchange);
}

void HttpEndpoint::OnModern(const rpc::Line& line, const rpc::Request& request,
                            const std::shared_ptr<HttpExchange>& exchange) {
  if (auto failure = CheckHeaders(exchange->head(), request)) {
    failure->id = request.id;
    return Refuse(*exchange, *failure);
  }
  posts_.push_back(std::make_unique<Post>(*this, exchange));
  Post& post = *posts_.back();
  exchange->WhenGone([this, &post] {
    post.answered = true;
    Sweep();
  });
  post.session.WhenEnded([this] { Sweep(); });
  post.session.OnMessages(line, nullptr, TraceIn(exchange->head()));
}

void HttpEndpoint::OnLegacy(const rpc::Line& line, const rpc::Request* request,
                            const std::shared_ptr<HttpExchange>& exchange) {
  const bool begins = request != nullptr && request->method == "initialize";
  const bool asks = line.batch || request != nullptr;
  // There is nothing that a notification or a response could be about without a session: in
  // 2026-07-28 the end of a request's connection cancels it, and the server asks nothing by
  // requests of its own.
  if (!asks && exchange->head().Find(kSessionField) == nullptr) {
    return exchange->Answer({.status = 202});
  }
  HttpSession* const session = begins ? NewSession(*exchange) : SessionOf(*exchange);
  if (session == nullptr) return;
  if (line.batch && session->session().legacy_revision() != Revision::k2025_03_26) {
    return Refuse(*exchange, {.code = rpc::kInvalidRequest,
                              .message = "Invalid request: this revision has no batches; send one "
                                         "message in each POST",
                              .data = {},
                              .id = {}});
  }
  session->OnPost(line, exchange);
}

HttpSession* HttpEndpoint::SessionOf(HttpExchange& exchange) {
  const std::string* const id = exchange.head().Find(kSessionField);
  if (id == nullptr) {
    exchange.Answer(PlainAnswer(400, "the header Mcp-Session-Id is missing; initialize gives it"));
    return nullptr;
  }
  // Clients that send it say what was agreed on; nothing depends on it.
  const std::string* const version = exchange.head().Find("mcp-protocol-version");
  const auto revision = version != nullptr ? FindRevision(*version) : std::optional(kLatestLegacy);
  if (!revision || IsModern(*revision)) {
    exchange.Answer(
        PlainAnswer(400, "the header MCP-Protocol-Version names no revision of a session"));
    return nullptr;
  }
  const auto found = std::ranges::find(sessions_, *id, [](const auto& one) { return one->id(); });
  if (found != sessions_.end() && !(*found)->ending() &&
      (*found)->peer().IsSameCaller(exchange.peer())) {
    (*found)->Renew(exchange.peer());
    return found->get();
  }
  exchange.Answer(
      PlainAnswer(404, "there is no such session, or it has ended; initialize begins one"));
  return nullptr;
}

// A client that does not end its sessions must not keep others out.
HttpSession* HttpEndpoint::NewSession(HttpExchange& exchange) {
  if (sessions_.size() >= kMaxHttpSessions) {
    HttpSession* oldest = nullptr;
    for (const auto& session : sessions_) {
      const bool older = oldest == nullptr || session->used() < oldest->used();
      if (session->idle() && older) oldest = session.get();
    }
    if (oldest == nullptr) {
      exchange.Answer(PlainAnswer(503, "too many sessions are in use"));
      return nullptr;
    }
    std::erase_if(sessions_, [&](const auto& session) { return session.get() == oldest; });
  }
  sessions_.push_back(
      std::make_unique<HttpSession>(services_, state_, exchange.peer(), [this] { Sweep(); }));
  return sessions_.back().get();
}

// Not at once: whoever calls this is in the middle of a session. It ends the sessions of requests
// that have their answers, or whose clients have gone.
void HttpEndpoint::Sweep() {
  if (sweeper_.is_active()) return;
  sweeper_.Start(std::chrono::milliseconds(0), [this] {
    for (const auto& post : posts_) {
      if (post->answered) post->session.Shutdown();
    }
    posts_.remove_if(
        [](const auto& post) { return post->answered && post->session.in_flight() == 0; });
    sessions_.remove_if([](const auto& session) { return session->over(); });
    EndIfIdle();
  });
}

void HttpEndpoint::EndUnknown(const std::function<bool(const HttpPeer& peer)>& known) {
  for (const auto& post : posts_) {
    if (!known(post->peer())) post->session.Shutdown();
  }
  for (const auto& session : sessions_) {
    if (!known(session->peer())) session->Shutdown();
  }
}

void HttpEndpoint::Shutdown() {
  ending_ = true;
  heir_.WhenEnded([this] { Sweep(); });
  heir_.Shutdown();
  // Those that end with it are still in the list.
  for (const auto& post : posts_) post->session.Shutdown();
  for (const auto& session : sessions_) session->Shutdown();
  Sweep();
}

void HttpEndpoint::WhenEnded(std::function<void()> callback) {
  on_ended_ = std::move(callback);
  Sweep();
}

std::size_t HttpEndpoint::in_flight() const {
  std::size_t all = heir_.in_flight();
  for (const auto& post : posts_) all += post->session.in_flight();
  for (const auto& session : sessions_) all += session->session().in_flight();
  return all;
}

void HttpEndpoint::EndIfIdle() {
  if (ending_ && posts_.empty() && sessions_.empty() && heir_.in_flight() == 0 && on_ended_) {
    std::exchange(on_ended_, nullptr)();
  }
}

}  // namespace pa
