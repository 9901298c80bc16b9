#include "supervisor/mcp/http_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "base/base64.h"
#include "supervisor/mcp/envelope.h"
#include "supervisor/mcp/protocol.h"

namespace pa {
namespace {

constexpr std::string_view kVersionField = "mcp-protocol-version";

rpc::Failure Mismatch(std::string message) {
  return {.code = rpc::kHeaderMismatch,
          .message = "Header mismatch: " + std::move(message),
          .data = {},
          .id = {}};
}

// `=?base64?...?=` is what cannot stand in a header as it is, or looks like this form itself.
std::optional<std::string> Decoded(const std::string& value) {
  constexpr std::string_view kBegin = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  const bool encoded = value.size() >= kBegin.size() + kEnd.size() && value.starts_with(kBegin) &&
                       value.ends_with(kEnd);
  if (!encoded) return value;
  return FromBase64(
      std::string_view(value).substr(kBegin.size(), value.size() - kBegin.size() - kEnd.size()));
}

std::optional<rpc::Failure> Compare(const HttpHead& head, const char* shown, std::string_view name,
                                    std::string_view body) {
  const std::string* const value = head.Find(name);
  if (value == nullptr) return Mismatch(fmt::format("the header {} is missing", shown));
  const std::optional<std::string> decoded = Decoded(*value);
  if (!decoded) return Mismatch(fmt::format("the header {} is no valid Base64", shown));
  if (*decoded == body) return std::nullopt;
  return Mismatch(fmt::format("the header {} is not what the body says", shown));
}

struct NamedMethod {
  std::string_view method;
  std::string_view param;  // that Mcp-Name repeats
};
constexpr NamedMethod kNamedMethods[] = {
    {"tools/call", "name"},  {"prompts/get", "name"},    {"resources/read", "uri"},
    {"tasks/get", "taskId"}, {"tasks/update", "taskId"}, {"tasks/cancel", "taskId"},
};

// "": none. What a method would need that there is not is never asked for.
std::string_view NameParam(std::string_view method) {
  const auto* const found = std::ranges::find(kNamedMethods, method, &NamedMethod::method);
  return found == std::end(kNamedMethods) ? "" : found->param;
}

}  // namespace

bool IsModernRequest(const HttpHead& head, const rpc::Request& request) {
  if (ClaimedRevision(request.params)) return true;
  const std::string* const version = head.Find(kVersionField);
  return version != nullptr && *version == RevisionName(kModernRevision);
}

std::optional<rpc::Failure> CheckHeaders(const HttpHead& head, const rpc::Request& request) {
  const JsonValue* const claimed = ClaimedVersion(request.params);
  if (claimed != nullptr && head.Find(kVersionField) != nullptr) {
    auto failure = Compare(head, "MCP-Protocol-Version", kVersionField, claimed->AsString());
    if (failure) return failure;
  }
  const auto claim = ClaimedRevision(request.params);
  if (!claim) return MissingEnvelope();
  if (!*claim) return claim->error();
  auto failure = Compare(head, "MCP-Protocol-Version", kVersionField, RevisionName(**claim));
  if (!failure) failure = Compare(head, "Mcp-Method", "mcp-method", request.method);
  const std::string_view param = NameParam(request.method);
  const JsonValue* const name = param.empty() ? nullptr : request.params.FindSet(param);
  // A body without the parameter is refused for that, whatever the header says.
  if (failure || name == nullptr || !name->IsString()) return failure;
  return Compare(head, "Mcp-Name", "mcp-name", name->AsString());
}

SessionOptions CallerOf(const HttpPeer& peer) {
  return {.endpoint = peer.user ? "unix" : "http",
          .token = peer.token,
          .issuer = std::string(peer.Issuer())};
}

std::string TraceIn(const HttpHead& head) {
  const std::string* const parent = head.Find("traceparent");
  return parent == nullptr ? "" : *parent;
}

}  // namespace pa
