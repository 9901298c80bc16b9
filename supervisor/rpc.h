// JSON-RPC 2.0 as MCP uses it: one message a line, ids are strings or integers and kept verbatim.
#pragma once

#include <compare>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"

namespace pa::rpc {

// A request's id or a progress token: an integer as it was written, of any size, or a string in the
// writer's one spelling (`"\u0061"` is `"a"`). So equal tokens are equal ids, and an echo is
// verbatim.
class Id {
 public:
  // Nothing for anything but a string or an integer.
  static std::optional<Id> FromJson(const JsonValue& value);

  explicit Id(std::string token) : token_(std::move(token)) {}
  const std::string& token() const { return token_; }
  auto operator<=>(const Id&) const = default;

 private:
  std::string token_;
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
std::expected<Message, Failure> ParseMessage(std::string_view line);

std::string RequestLine(const Id& id, std::string_view method, std::string_view params_json);
std::string ResultLine(const Id& id, std::string_view result_json);
// Without an id when there is none to name.
std::string ErrorLine(const std::optional<Id>& id, const Failure& failure);
std::string NotificationLine(std::string_view method, std::string_view params_json);

}  // namespace pa::rpc
