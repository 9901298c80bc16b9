// JSON-RPC 2.0 as MCP uses it: one message a line, ids are strings or integers and kept verbatim.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"

namespace pa::rpc {

// The id as it was written: `7` or `"a"`; echoed byte for byte, compared by value.
class Id {
 public:
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
  JsonValue params;
};

struct Response {};  // from the client; we ask nothing yet, so it is ignored

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
  std::string data;       // JSON, or ""
  std::optional<Id> id;   // of the message that failed, when it could be read
};

using Message = std::variant<Request, Notification, Response>;
std::expected<Message, Failure> ParseMessage(std::string_view line);

std::string ResultLine(const Id& id, std::string_view result_json);
std::string ErrorLine(const std::optional<Id>& id, const Failure& failure);
std::string NotificationLine(std::string_view method, std::string_view params_json);

}  // namespace pa::rpc
