#include "supervisor/mcp/envelope.h"

#include "base/json_writer.h"
#include "supervisor/mcp/params.h"

namespace pa {
namespace {

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kClientKey = "io.modelcontextprotocol/clientInfo";

constexpr std::string_view kLogLevelKey = "io.modelcontextprotocol/logLevel";

rpc::Failure BadKey(std::string_view key, std::string_view problem) {
  return InvalidParams("params._meta[\"" + std::string(key) + "\"] " + std::string(problem))
      .error();
}

}  // namespace

std::optional<std::expected<Revision, rpc::Failure>> ClaimedRevision(const JsonValue& params) {
  const JsonValue* meta = params.FindSet("_meta");
  if (meta == nullptr) return std::nullopt;
  const JsonValue* version = meta->FindSet(kVersionKey);
  const JsonValue* capabilities = meta->FindSet(kCapabilitiesKey);
  const JsonValue* client = meta->FindSet(kClientKey);
  if (version == nullptr && capabilities == nullptr && client == nullptr) return std::nullopt;
  if (version == nullptr) return std::unexpected(BadKey(kVersionKey, "is missing"));
  if (!version->IsString()) return std::unexpected(BadKey(kVersionKey, "must be a string"));
  if (capabilities == nullptr) return std::unexpected(BadKey(kCapabilitiesKey, "is missing"));
  if (!capabilities->IsObject())
    return std::unexpected(BadKey(kCapabilitiesKey, "must be an object"));
  if (client != nullptr && !client->IsObject()) {
    return std::unexpected(BadKey(kClientKey, "must be an object"));
  }
  if (const JsonValue* level = meta->FindSet(kLogLevelKey);
      level != nullptr && !ClaimedLogLevel(params)) {
    return std::unexpected(BadKey(kLogLevelKey, "must be a level of RFC 5424, such as \"info\""));
  }
  // A legacy revision cannot be claimed: it begins with initialize.
  const std::optional<Revision> revision = FindRevision(version->AsString());
  if (!revision || !IsModern(*revision))
    return std::unexpected(UnsupportedVersion(version->AsString()));
  return *revision;
}

const JsonValue* ClaimedVersion(const JsonValue& params) {
  const JsonValue* meta = params.FindSet("_meta");
  const JsonValue* version = meta != nullptr ? meta->FindSet(kVersionKey) : nullptr;
  return version != nullptr && version->IsString() ? version : nullptr;
}

rpc::Failure MissingEnvelope() { return BadKey(kVersionKey, "is missing"); }

rpc::Failure UnsupportedVersion(std::string_view requested) {
  JsonWriter data;
  data.BeginObject().Key("supported").BeginArray().String(RevisionName(kModernRevision)).EndArray();
  data.Field("requested", requested).EndObject();
  return {.code = rpc::kUnsupportedVersion,
          .message = "Unsupported protocol version",
          .data = std::move(data).Take(),
          .id = {}};
}

std::expected<std::string, rpc::Failure> ProgressToken(const JsonValue& params) {
  const JsonValue* meta = params.FindSet("_meta");
  const JsonValue* token = meta != nullptr ? meta->FindSet("progressToken") : nullptr;
  if (token == nullptr) return std::string();
  // The same values as an id.
  const std::optional<rpc::Id> value = rpc::Id::FromJson(*token);
  if (!value) {
    return InvalidParams("params._meta.progressToken must be a string or a number");
  }
  return value->token();
}

ClientInfo ClientInfoIn(const JsonValue* client_info) {
  const auto text = [&](std::string_view key) {
    const JsonValue* value = client_info != nullptr ? client_info->FindSet(key) : nullptr;
    return value != nullptr && value->IsString() ? value->AsString() : std::string();
  };
  return {text("name"), text("version")};
}

std::optional<ClientInfo> ClaimedClient(const JsonValue& params) {
  const JsonValue* meta = params.FindSet("_meta");
  const JsonValue* client = meta != nullptr ? meta->FindSet(kClientKey) : nullptr;
  if (client == nullptr) return std::nullopt;
  return ClientInfoIn(client);
}

std::optional<LogLevel> ClaimedLogLevel(const JsonValue& params) {
  const JsonValue* meta = params.FindSet("_meta");
  const JsonValue* level = meta != nullptr ? meta->FindSet(kLogLevelKey) : nullptr;
  return level != nullptr && level->IsString() ? FindLogLevel(level->AsString()) : std::nullopt;
}

const JsonValue* ClaimedCapabilities(const JsonValue& params) {
  const JsonValue* meta = params.FindSet("_meta");
  return meta != nullptr ? meta->FindSet(kCapabilitiesKey) : nullptr;
}

std::string TraceParent(const JsonValue& params) {
  const JsonValue* meta = params.FindSet("_meta");
  const JsonValue* parent = meta != nullptr ? meta->FindSet("traceparent") : nullptr;
  return parent != nullptr && parent->IsString() ? parent->AsString() : "";
}

}  // namespace pa
