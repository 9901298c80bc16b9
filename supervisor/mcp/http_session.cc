#include "supervisor/mcp/http_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <new>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "supervisor/mcp/http_headers.h"

namespace pa {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kIdBytes = 16;

// `STREAM-EVENT`
struct EventId {
  std::uint64_t stream = 0;
  std::uint64_t event = 0;
};

std::optional<EventId> ReadEventId(std::string_view text) {
  EventId id;
  const char* const end = text.data() + text.size();
  const auto stream = std::from_chars(text.data(), end, id.stream);
  if (stream.ec != std::errc() || stream.ptr == end || *stream.ptr != '-') return std::nullopt;
  const auto event = std::from_chars(stream.ptr + 1, end, id.event);
  if (event.ec != std::errc() || event.ptr != end) return std::nullopt;
  return id;
}

}  // namespace

// The messages for one POST, or for the GET of a session. It keeps them for a client that comes
// back, and outlives its exchange.
class HttpSession::Stream final : public Transport {
 public:
  Stream(HttpSession& session, std::uint64_t number) : session_(session), number_(number) {}

  void Attach(const std::shared_ptr<HttpExchange>& exchange) {
    exchange_ = exchange;
    exchange->WhenGone([this] { Leave(); });
  }
  // Goes on behind this event; older ones than those that are kept are lost.
  void Resume(const std::shared_ptr<HttpExchange>& exchange, std::uint64_t last) {
    if (exchange_) Finish();
    Attach(exchange);
    Begin();
    for (const Event& event : events_) {
      if (event.number > last) exchange_->Send(event.text);
    }
    told_ = next_ - 1;
    if (ended_) Finish();
  }

  void Send(std::string line) override {
    if (ended_) return;
    try {
      Keep(line);
      if (!exchange_) return;
      Begin();
      exchange_->Send(events_.back().text);
      told_ = events_.back().number;
    } catch (const std::bad_alloc&) {
      if (exchange_) exchange_->Drop();
    }
  }
  // An error of the protocol is told in the body alone, as older clients expect.
  void Reply(std::string line, int /*error*/) override {
    if (ended_) return;
    if (!exchange_ || exchange_->streams()) {
      Send(std::move(line));
      return End();
    }
    ended_ = true;
    left_ = Clock::now();
    const auto exchange = std::exchange(exchange_, nullptr);
    try {
      exchange->Answer({.body = std::move(line), .fields = session_.Fields()});
    } catch (const std::bad_alloc&) {
      exchange->Drop();
    }
  }
  // Nothing more comes, be there a reply or not: a call that its client has cancelled has none.
  void End() {
    if (std::exchange(ended_, true)) return;
    if (exchange_) Finish();
  }
  OutputGate& gate() override { return exchange_ ? exchange_->gate() : open_; }

  bool attached() const { return exchange_ != nullptr; }
  std::uint64_t told() const { return told_; }
  // Its client has gone, and has not come back for long.
  bool Forgotten(Clock::time_point now) const {
    return ended_ && !exchange_ && (events_.empty() || now - left_ > session_.limits_.keep_stream);
  }

 private:
  struct Event {
    std::uint64_t number;
    std::string text;
  };

  void Begin() {
    if (exchange_->streams()) return;
    exchange_->BeginStream(session_.Fields());
    // So that a client that loses the connection before anything came can come back.
    const bool primes = session_.session_.legacy_revision() == kLatestLegacy;
    if (primes) exchange_->Send(fmt::format("id: {}-0\nretry: 1000\ndata: \n\n", number_));
  }
  void Leave() {
    exchange_ = nullptr;
    left_ = session_.used_ = Clock::now();
  }
  void Finish() {
    left_ = Clock::now();
    try {
      Begin();
      exchange_->EndStream();
    } catch (const std::bad_alloc&) {
      exchange_->Drop();
    }
    exchange_ = nullptr;
  }
  void Keep(std::string_view line) {
    const std::uint64_t number = next_++;
    events_.push_back(
        {number, fmt::format("id: {}-{}\nevent: message\ndata: {}\n\n", number_, number, line)});
    bytes_ += events_.back().text.size();
    while (events_.size() > 1 &&
           (events_.size() > session_.limits_.events || bytes_ > session_.limits_.bytes)) {
      bytes_ -= events_.front().text.size();
      events_.pop_front();
    }
  }

  HttpSession& session_;
  std::uint64_t number_;
  std::shared_ptr<HttpExchange> exchange_;  // null: the client has gone, or has all
  OutputGate open_;
  std::deque<Event> events_;
  std::size_t bytes_ = 0;
  std::uint64_t next_ = 1;
  std::uint64_t told_ = 0;  // the last event that was sent to somebody
  Clock::time_point left_ = Clock::now();
  bool ended_ = false;
};

// The way of one POST's replies. When nobody holds it any more, nothing more can come.
class HttpSession::Route final : public Transport {
 public:
  explicit Route(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
  ~Route() override { stream_->End(); }
  Route(const Route&) = delete;
  Route& operator=(const Route&) = delete;
  void Send(std::string line) override { stream_->Send(std::move(line)); }
  void Reply(std::string line, int error) override { stream_->Reply(std::move(line), error); }
  OutputGate& gate() override { return stream_->gate(); }

 private:
  std::shared_ptr<Stream> stream_;
};

HttpSession::HttpSession(const Services& services, ServerState& state, HttpPeer peer,
                         std::function<void()> over, HttpSessionLimits limits)
    : limits_(limits),
      id_(RandomHex(kIdBytes)),
      peer_(std::move(peer)),
      unasked_(std::make_shared<Stream>(*this, 0)),
      session_(services, state, *unasked_, CallerOf(peer_)),
      look_(services.loop) {
  session_.WhenEnded(std::move(over));
  look_.Unref();
  Look();
}

HttpSession::~HttpSession() = default;

std::vector<std::pair<std::string, std::string>> HttpSession::Fields() const {
  return {{"Mcp-Session-Id", id_}};
}

bool HttpSession::idle() const {
  const auto open = [](const auto& entry) { return entry.second->attached(); };
  return session_.in_flight() == 0 && !unasked_->attached() && std::ranges::none_of(streams_, open);
}

void HttpSession::OnPost(const rpc::Line& line, const std::shared_ptr<HttpExchange>& exchange) {
  used_ = Clock::now();
  const bool asks = std::ranges::any_of(line.messages, [](const rpc::Parsed& message) {
    return !message || std::holds_alternative<rpc::Request>(*message);
  });
  if (!asks) {
    exchange->Answer({.status = 202});
    return session_.OnMessages(line, nullptr, TraceIn(exchange->head()));
  }
  ForgetStreams();
  if (streams_.size() >= limits_.streams) {
    return exchange->Answer(PlainAnswer(503, "too many requests of this session wait"));
  }
  const std::uint64_t number = next_stream_++;
  auto stream = std::make_shared<Stream>(*this, number);
  auto route = std::make_shared<Route>(stream);
  streams_.emplace(number, stream);
  stream->Attach(exchange);
  session_.OnMessages(line, std::move(route), TraceIn(exchange->head()));
}

void HttpSession::OnGet(const std::shared_ptr<HttpExchange>& exchange) {
  used_ = Clock::now();
  if (const std::string* last = exchange->head().Find("last-event-id")) {
    return Resume(*last, exchange);
  }
  if (unasked_->attached()) {
    return exchange->Answer(PlainAnswer(409, "the session has a stream already"));
  }
  unasked_->Resume(exchange, unasked_->told());
}

void HttpSession::Resume(const std::string& last, const std::shared_ptr<HttpExchange>& exchange) {
  ForgetStreams();
  const std::optional<EventId> id = ReadEventId(last);
  const auto found = id ? streams_.find(id->stream) : streams_.end();
  if (id && id->stream == 0) return unasked_->Resume(exchange, id->event);
  if (found == streams_.end()) {
    return exchange->Answer(PlainAnswer(404, "the stream of this event is not kept"));
  }
  found->second->Resume(exchange, id->event);
}

// Streams are kept for a time, and so are sessions that nobody uses.
void HttpSession::Look() {
  ForgetStreams();
  if (idle() && Clock::now() - used_ >= limits_.idle) return Shutdown();
  look_.Start(std::min(limits_.keep_stream, limits_.idle), [this] { Look(); });
}

void HttpSession::ForgetStreams() {
  const auto now = Clock::now();
  std::erase_if(streams_, [&](const auto& entry) { return entry.second->Forgotten(now); });
}

void HttpSession::Shutdown() {
  if (std::exchange(ending_, true)) return;
  look_.Stop();
  unasked_->End();
  session_.Shutdown();
}

}  // namespace pa
