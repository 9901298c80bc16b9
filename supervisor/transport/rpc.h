// JSON-RPC 2.0 as MCP uses it: one message a line, or one batch; ids are kept verbatim.
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
// number to the digit, and compared by its value: `7.0` is `7`, `"\u0061"` is `"a"`.
class Id {
 public:
  // Nothing for anything but a string or a number.
  static std::optional<Id> FromJson(const JsonValue& value);
  // The same of JSON text. Half a surrogate pair stays what it is: for FromJson it is U+FFFD.
  static std::optional<Id> FromToken(std::string_view json);

  explicit Id(std::string token) : token_(token), value_(std::move(token)) {}
  const std::string& token() const { return token_; }
  auto operator<=>(const Id& other) const { return value_ <=> other.value_; }
  bool operator==(const Id& other) const { return value_ == other.value_; }

 private:
  std::string token_;  // on one line
  std::string value_;  // an integer in its shortest spelling, a string in the writer's
};

struct Request {
  Id id;
  std::string method;
  JsonValue params;  // object; empty object when absent
};

struct Notification {
  std::string method;
  JsonValue params;  // empty object when absent or of the wrong shape: nobody is told
};

// From the client, to a request of ours.
struct Response {
  std::optional<Id> id;             // nothing: it says none that could be one
  std::optional<JsonValue> result;  // nothing: an error
};

inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kMissingCapability = -32021;
inline constexpr int kUnsupportedVersion = -32022;

struct Failure {
  int code = kInternalError;
  std::string message;
  std::string data;      // JSON, or ""
  std::optional<Id> id;  // of the message that failed, when it could be read
};

using Message = std::variant<Request, Notification, Response>;
// A Failure is to be answered with ErrorLine(failure.id, failure).
using Parsed = std::expected<Message, Failure>;

// One message, or what an array holds (a batch): then `batch`.
struct Line {
  std::vector<Parsed> messages;  // never empty
  bool batch = false;
};
// Every request has its id in a Failure, too, wherever the id can be found
// (supervisor/transport/outline_scanner.h).
Line ParseLine(std::string_view line);

// What can be seen of a message in a line that cannot be read.
struct Outline {
  std::optional<Id> id;
  bool asks = false;     // has a method
  bool answers = false;  // has a result or an error
};
// Each is answered with `failure` and its id; a response is one that brings an error.
Line UnreadableLine(const std::vector<Outline>& outlines, const Failure& failure);

std::string RequestLine(const Id& id, std::string_view method, std::string_view params_json);
std::string ResultLine(const Id& id, std::string_view result_json);
// Without an id when there is none to name.
std::string ErrorLine(const std::optional<Id>& id, const Failure& failure);
std::string NotificationLine(std::string_view method, std::string_view params_json);

}  // namespace pa::rpc
