#include "supervisor/mcp/params.h"

#include <fmt/format.h>

#include <utility>

namespace pa {
namespace {

std::unexpected<rpc::Failure> WrongKind(std::string_view within, const char* name,
                                        const char* wanted, const JsonValue* value) {
  if (value == nullptr) return InvalidParams(fmt::format("{}{} is missing", within, name));
  return InvalidParams(
      fmt::format("{}{} must be {}, not {}", within, name, wanted, value->KindName()));
}

}  // namespace

std::unexpected<rpc::Failure> FailedWith(int code, std::string message, std::string data) {
  return std::unexpected(
      rpc::Failure{.code = code, .message = std::move(message), .data = std::move(data), .id = {}});
}

std::unexpected<rpc::Failure> InvalidParams(std::string_view message) {
  return FailedWith(rpc::kInvalidParams, fmt::format("Invalid params: {}", message));
}

std::expected<std::string, rpc::Failure> RequiredString(const JsonValue& object, const char* name,
                                                        std::string_view within) {
  const JsonValue* value = object.Find(name);
  if (value != nullptr && value->IsString()) return value->AsString();
  return WrongKind(within, name, "a string", value);
}

std::expected<const JsonValue*, rpc::Failure> RequiredObject(const JsonValue& params,
                                                             const char* name) {
  const JsonValue* value = params.Find(name);
  if (value != nullptr && value->IsObject()) return value;
  return WrongKind("params.", name, "an object", value);
}

std::expected<void, rpc::Failure> OptionalObject(const JsonValue& params, const char* name) {
  const JsonValue* value = params.FindSet(name);
  if (value == nullptr || value->IsObject()) return {};
  return WrongKind("params.", name, "an object", value);
}

}  // namespace pa
