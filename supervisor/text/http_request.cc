#include "supervisor/text/http_request.h"

#include <llhttp.h>

#include <algorithm>
#include <new>

#include "base/words.h"

namespace pa {
namespace {

using Failure = std::optional<HttpRefusal>;
using Field = std::pair<std::string, std::string>;

constexpr HttpRefusal kTooLong{431, "the head of the request is too long"};
constexpr HttpRefusal kBodyTooLong{413, "the body of the request is too long"};
constexpr HttpRefusal kNoHttp{400, "this is no request of HTTP/1.1"};
constexpr HttpRefusal kUnknownMethod{501, "the method of the request is not known here"};

// Versions of llhttp know different ones.
constexpr std::string_view kMethods[] = {"GET",    "HEAD",    "POST", "PUT",
                                         "DELETE", "OPTIONS", "PATCH"};

// The lines of a head as they come, without a look at what they say: whether each ends with CRLF
// and nothing else does, and where the empty one is.
class LineRule {
 public:
  // How many of these bytes belong to the head; more than there are: its end is not here.
  std::size_t Look(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size() && !broken_; ++i) {
      Step(bytes[i]);
      if (ended_) return i + 1;
    }
    return bytes.size() + 1;
  }
  bool broken() const { return broken_; }

 private:
  void Step(char c) {
    const bool line_begins = last_ == '\n';
    if ((c == '\n') != (last_ == '\r')) broken_ = true;
    // obs-fold (RFC 9112, 5.2): some readers take such a line for a part of the one before it.
    if (line_begins && (c == ' ' || c == '\t')) broken_ = true;
    if (c == '\n') {
      if (length_ == 0) ended_ = true;
      length_ = 0;
    } else if (c != '\r') {
      ++length_;
    }
    last_ = c;
  }

  char last_ = '\0';
  std::size_t length_ = 0;  // of the line
  bool ended_ = false;
  bool broken_ = false;
};

// A proxy that knows nothing of the protocol takes Upgrade out, or both.
bool NamesUpgrade(const HttpHead& head) {
  const std::string* const connection = head.Find("connection");
  if (connection == nullptr) return false;
  return std::ranges::any_of(SplitWords(*connection, ","), [](std::string_view option) {
    return Lowered(Trimmed(option)) == "upgrade";
  });
}

}  // namespace

// One request, as llhttp reads it. Its callbacks are C: no exception may leave them.
class HttpReader::Parser {
 public:
  explicit Parser(const HttpLimits& limits) : limits_(limits) {
    llhttp_init(&llhttp_, HTTP_REQUEST, &Settings());
    llhttp_.data = this;
  }

  Failure FeedHead(std::string_view bytes);
  // The head is complete.
  Failure Finish();
  // `used`: how many of the bytes belong to this request.
  Failure FeedBody(std::string_view bytes, std::size_t& used);

  LineRule& lines() { return lines_; }
  bool done() const { return done_; }
  HttpHead head;
  std::string body;

 private:
  static const llhttp_settings_t& Settings();
  static Parser& Of(llhttp_t* llhttp) { return *static_cast<Parser*>(llhttp->data); }
  template <typename What>
  static int Guarded(llhttp_t* llhttp, What what);

  int AddField();
  int Fail(HttpRefusal refusal) {
    failure_ = refusal;
    return HPE_USER;
  }
  Failure Execute(std::string_view bytes);
  Failure ReadFirstLine();
  Failure CheckBody();
  Failure CheckProtocol();

  HttpLimits limits_;
  llhttp_t llhttp_{};
  LineRule lines_;
  std::string first_line_;
  bool has_first_line_ = false;
  std::string name_;
  std::string value_;
  std::size_t head_bytes_ = 0;
  std::size_t field_lines_ = 0;
  std::size_t body_bytes_ = 0;  // as sent, with the frames of chunks
  char last_ = '\0';            // of them
  bool chunked_ = false;
  bool in_body_ = false;
  bool done_ = false;
  bool no_memory_ = false;
  Failure failure_;  // of a callback
};

template <typename What>
int HttpReader::Parser::Guarded(llhttp_t* llhttp, What what) {
  Parser& self = Of(llhttp);
  try {
    return what(self);
  } catch (const std::bad_alloc&) {
    self.no_memory_ = true;
  }
  return HPE_USER;
}

const llhttp_settings_t& HttpReader::Parser::Settings() {
  static const llhttp_settings_t settings = [] {
    llhttp_settings_t s;
    llhttp_settings_init(&s);
    s.on_header_field = [](llhttp_t* llhttp, const char* at, std::size_t size) {
      return Guarded(llhttp, [&](Parser& self) -> int {
        // Behind the last chunk. They are no part of the head, and nobody reads them here.
        if (self.in_body_) return self.Fail({400, "trailers are not read here"});
        self.name_.append(at, size);
        return 0;
      });
    };
    s.on_header_value = [](llhttp_t* llhttp, const char* at, std::size_t size) {
      return Guarded(llhttp, [&](Parser& self) {
        self.value_.append(at, size);
        return 0;
      });
    };
    s.on_header_value_complete = [](llhttp_t* llhttp) {
      return Guarded(llhttp, [](Parser& self) { return self.AddField(); });
    };
    s.on_headers_complete = [](llhttp_t* llhttp) {
      Parser& self = Of(llhttp);
      self.in_body_ = true;
      // Nothing is spoken here but HTTP/1.1, so what follows is a body, or the next request.
      llhttp->upgrade = 0;
      return 0;
    };
    s.on_chunk_extension_name = [](llhttp_t* llhttp, const char*, std::size_t) {
      return Of(llhttp).Fail({400, "extensions of chunks are not read here"});
    };
    s.on_chunk_header = [](llhttp_t* llhttp) -> int {
      Parser& self = Of(llhttp);
      const std::size_t room = self.limits_.body - self.body.size();
      return llhttp->content_length > room ? self.Fail(kBodyTooLong) : 0;
    };
    s.on_body = [](llhttp_t* llhttp, const char* at, std::size_t size) {
      return Guarded(llhttp, [&](Parser& self) {
        self.body.append(at, size);
        return 0;
      });
    };
    s.on_message_complete = [](llhttp_t* llhttp) -> int {
      Of(llhttp).done_ = true;
      return HPE_PAUSED;
    };
    return s;
  }();
  return settings;
}

int HttpReader::Parser::AddField() {
  const std::string name = Lowered(std::exchange(name_, {}));
  const std::string value(Trimmed(std::exchange(value_, {})));
  if (name.empty()) return Fail({400, "a field of the head has no name"});
  if (++field_lines_ > limits_.fields) return Fail(kTooLong);
  const auto there = std::ranges::find(head.fields, name, &Field::first);
  if (there == head.fields.end()) {
    head.fields.emplace_back(name, value);
  } else {
    there->second.append(", ").append(value);
  }
  return 0;
}

Failure HttpReader::Parser::Execute(std::string_view bytes) {
  const llhttp_errno_t status = llhttp_execute(&llhttp_, bytes.data(), bytes.size());
  if (no_memory_) throw std::bad_alloc();
  if (failure_) return failure_;
  if (status == HPE_OK || (status == HPE_PAUSED && done_)) return std::nullopt;
  if (status == HPE_INVALID_METHOD) return kUnknownMethod;
  const char* const reason = llhttp_get_error_reason(&llhttp_);
  return HttpRefusal{400, reason == nullptr || *reason == '\0' ? kNoHttp.why : reason};
}

Failure HttpReader::Parser::FeedHead(std::string_view bytes) {
  head_bytes_ += bytes.size();
  if (!has_first_line_) {
    first_line_ += bytes.substr(0, bytes.find('\r'));
    has_first_line_ = bytes.contains('\r');
    if (first_line_.size() > limits_.target) return HttpRefusal{414, "the target is too long"};
  }
  if (head_bytes_ > limits_.head) return kTooLong;
  return Execute(bytes);
}

Failure HttpReader::Parser::Finish() {
  if (Failure failure = ReadFirstLine()) return failure;
  const std::string* const host = head.Find("host");
  if (host == nullptr || host->empty() || host->contains(',')) {
    return HttpRefusal{400, "the request has no Host, or several"};
  }
  if (Failure failure = CheckBody()) return failure;
  head.keep_alive = llhttp_should_keep_alive(&llhttp_) != 0;
  return limits_.any_protocol ? std::nullopt : CheckProtocol();
}

// `METHOD TARGET HTTP/1.1`
Failure HttpReader::Parser::ReadFirstLine() {
  const std::string_view line = first_line_;
  if (std::ranges::count(line, ' ') != 2) return kNoHttp;
  const std::size_t target = line.find(' ') + 1;
  const std::size_t version = line.rfind(' ') + 1;
  head.method = line.substr(0, target - 1);
  head.target = line.substr(target, version - target - 1);
  head.version_1_0 = line.substr(version) == "HTTP/1.0";
  if (!head.version_1_0 && line.substr(version) != "HTTP/1.1") {
    return HttpRefusal{505, "only HTTP/1.1 is served here"};
  }
  if (std::ranges::find(kMethods, head.method) == std::end(kMethods)) return kUnknownMethod;
  const bool asterisk = head.method == "OPTIONS" && head.target == "*";
  if ((!asterisk && !head.target.starts_with('/')) || head.target.contains('#')) {
    return HttpRefusal{400, "the target of the request is no path"};
  }
  return std::nullopt;
}

Failure HttpReader::Parser::CheckBody() {
  const std::string* const coding = head.Find("transfer-encoding");
  const std::string* const length = head.Find("content-length");
  if (coding != nullptr && length != nullptr) {
    return HttpRefusal{400, "the request has both Transfer-Encoding and Content-Length"};
  }
  if (coding != nullptr && (Lowered(*coding) != "chunked" || head.version_1_0)) {
    return HttpRefusal{501, "no Transfer-Encoding but chunked is read here"};
  }
  if (length != nullptr && llhttp_.content_length > limits_.body) return kBodyTooLong;
  chunked_ = coding != nullptr;
  head.has_body = !done_;
  return std::nullopt;
}

Failure HttpReader::Parser::CheckProtocol() {
  const std::string* const upgrade = head.Find("upgrade");
  const std::string protocol = upgrade == nullptr ? "" : Lowered(*upgrade);
  head.upgrades = !protocol.empty() && protocol == limits_.protocol;
  if (head.upgrades && (head.method != "GET" || head.has_body || !NamesUpgrade(head))) {
    return HttpRefusal{400, "an upgrade is a GET without a body and with Connection: upgrade"};
  }
  // Java's client asks for h2c with each request, and goes on with HTTP/1.1 where nobody answers
  // that (RFC 9110, 7.8).
  if (upgrade != nullptr && !head.upgrades && protocol != "h2c") {
    return HttpRefusal{501, "no other protocol is spoken here"};
  }
  const std::string* const expect = head.Find("expect");
  if (expect != nullptr && Lowered(*expect) != "100-continue") {
    return HttpRefusal{417, "nothing but 100-continue can be expected"};
  }
  head.expects_continue = expect != nullptr && head.has_body && !head.version_1_0;
  return std::nullopt;
}

Failure HttpReader::Parser::FeedBody(std::string_view bytes, std::size_t& used) {
  Failure failure = Execute(bytes);
  used = bytes.size();
  if (failure) return failure;
  if (done_) used = static_cast<std::size_t>(llhttp_get_error_pos(&llhttp_) - bytes.data());
  body_bytes_ += used;
  // Chunks of one byte each take six.
  if (body_bytes_ > 2 * limits_.body) return kBodyTooLong;
  const char before = used > 1 ? bytes[used - 2] : last_;
  if (used > 0) last_ = bytes[used - 1];
  // llhttp 8 takes a single LF for the end of the last line.
  if (done_ && chunked_ && before != '\r') return HttpRefusal{400, "a chunk ends without CRLF"};
  return std::nullopt;
}

std::string MediaTypeOf(std::string_view field) {
  return Lowered(Trimmed(field.substr(0, field.find(';'))));
}

const std::string* HttpHead::Find(std::string_view name) const {
  const auto found = std::ranges::find(fields, name, &Field::first);
  return found == fields.end() ? nullptr : &found->second;
}

HttpReader::HttpReader(HttpLimits limits) : limits_(limits) {}
HttpReader::~HttpReader() = default;

void HttpReader::Append(std::string_view bytes) {
  if (!refused_) bytes_ += bytes;
}

std::optional<std::expected<HttpHead, HttpRefusal>> HttpReader::Refuse(HttpRefusal refusal) {
  refused_ = refusal;
  parser_.reset();
  std::string().swap(bytes_);
  return std::unexpected(refusal);
}

std::optional<std::expected<HttpHead, HttpRefusal>> HttpReader::ReadHead() {
  if (refused_) return std::unexpected(*refused_);
  if (at_ == At::kBody || bytes_.empty()) return std::nullopt;
  at_ = At::kHead;
  if (!parser_) parser_ = std::make_unique<Parser>(limits_);
  const std::size_t size = parser_->lines().Look(bytes_);
  if (parser_->lines().broken()) {
    return Refuse({400, "a line of the head does not end as HTTP/1.1 wants it"});
  }
  const bool complete = size <= bytes_.size();
  const std::string_view ours = std::string_view(bytes_).substr(0, size);
  if (Failure failure = parser_->FeedHead(ours)) return Refuse(*failure);
  bytes_.erase(0, ours.size());
  if (!complete) return std::nullopt;
  if (Failure failure = parser_->Finish()) return Refuse(*failure);
  at_ = At::kBody;
  return std::move(parser_->head);
}

std::optional<std::expected<std::string, HttpRefusal>> HttpReader::ReadBody() {
  if (refused_) return std::unexpected(*refused_);
  if (at_ != At::kBody) return std::nullopt;
  if (!parser_->done()) {
    std::size_t used = 0;
    if (Failure failure = parser_->FeedBody(bytes_, used)) {
      Refuse(*failure);
      return std::unexpected(*failure);
    }
    bytes_.erase(0, used);
    if (!parser_->done()) return std::nullopt;
  }
  std::string body = std::move(parser_->body);
  parser_.reset();
  at_ = At::kStart;
  return body;
}

}  // namespace pa
