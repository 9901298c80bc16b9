// JSON-RPC 2.0 as MCP uses it: a line is one message or one batch, and ids are kept verbatim.
//
//    for (const rpc::Parsed& message : rpc::ParseLine(line).messages) {
//      if (!message) Send(rpc::ErrorLine(message.error().id, message.error()));
//    }
//
// What a method means, and whether there is one, is the session's (supervisor/mcp/session.h).
#pragma once

#include <compare>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"

namespace pa::rpc {

// A request's id or a progress token: a string or a number. It is echoed as it was written, a
// number digit for digit, and compared by its value: `7.0` is `7`, `"\u0061"` is `"a"`.
class Id {
 public:
  // Nothing if `value` is neither a string nor a number.
  static std::optional<Id> FromJson(const JsonValue& value);
  // The same for JSON text. A lone surrogate is kept as it is; FromJson would get U+FFFD.
  static std::optional<Id> FromToken(std::string_view json);

  explicit Id(std::string token) : token_(token), value_(std::move(token)) {}
  const std::string& token() const { return token_; }
  auto operator<=>(const Id& other) const { return value_ <=> other.value_; }
  bool operator==(const Id& other) const { return value_ == other.value_; }

 private:
  std::string token_;  // on one line
  std::string value_;  // an integer in its shortest spelling, a string as we write it
};

struct Request {
  Id id;
  std::string method;
  JsonValue params;  // object; empty object when absent
};

struct Notification {
  std::string method;
  JsonValue params;  // empty object when absent or of the wrong type: there is no reply
};

// From the client, to a request of ours.
struct Response {
  std::optional<Id> id;             // nothing: it has no valid id
  std::optional<JsonValue> result;  // nothing: it is an error
};

inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kMissingCapability = -32021;
inline constexpr int kUnsupportedVersion = -32022;

struct Failure {
  int code = kInternalError;
  std::string message;
  std::string data;      // JSON, or ""
  std::optional<Id> id;  // of the message that failed, if it could be read
};

using Message = std::variant<Request, Notification, Response>;
// Answer a Failure with ErrorLine(failure.id, failure).
using Parsed = std::expected<Message, Failure>;

// One message, or the messages of an array (a batch).
struct Line {
  std::vector<Parsed> messages;  // never empty
  bool batch = false;
};
// A Failure has the id of its request, too, wherever it can be found
// (supervisor/transport/outline_scanner.h).
Line ParseLine(std::string_view line);

// What is known of a message in a line that cannot be parsed.
struct Outline {
  std::optional<Id> id;
  bool asks = false;     // has a method
  bool answers = false;  // has a result or an error
};
// The messages of such a line: `failure` with the id of each request, and an error response for
// each response.
Line UnreadableLine(const std::vector<Outline>& outlines, const Failure& failure);

std::string RequestLine(const Id& id, std::string_view method, std::string_view params_json);
std::string ResultLine(const Id& id, std::string_view result_json);
// `id` nothing: the error has no id.
std::string ErrorLine(const std::optional<Id>& id, const Failure& failure);
std::string NotificationLine(std::string_view method, std::string_view params_json);

}  // namespace pa::rpc
