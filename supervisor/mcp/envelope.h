// The envelope of MCP 2026-07-28: every request names its revision in params._meta.
//
//    if (auto claim = ClaimedRevision(request.params)) ...   // modern, or -32602 or -32022
//    else ...                                                // legacy, or _meta was forgotten
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "base/json.h"
#include "supervisor/call/call_log.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/transport/rpc.h"

namespace pa {

// Nothing if there is no key of the envelope.
std::optional<std::expected<Revision, rpc::Failure>> ClaimedRevision(const JsonValue& params);

// The version that the envelope names, whatever it is; null: it names none, or no text.
const JsonValue* ClaimedVersion(const JsonValue& params);

// -32602 for a request that needs an envelope and has none.
rpc::Failure MissingEnvelope();

// -32022.
rpc::Failure UnsupportedVersion(std::string_view requested);

// What a client says about itself; "" if it is missing or not a string.
struct ClientInfo {
  std::string name, version;
};
ClientInfo ClientInfoIn(const JsonValue* client_info);
// The one in the envelope; nothing if there is none.
std::optional<ClientInfo> ClaimedClient(const JsonValue& params);

// The capabilities of the client; null if the envelope has none.
const JsonValue* ClaimedCapabilities(const JsonValue& params);

// `traceparent` in `_meta`, as the client wrote it; "" if there is none
// (https://www.w3.org/TR/trace-context/).
std::string TraceParent(const JsonValue& params);

// From which level on the client wants to hear of the request; nothing: of none.
std::optional<LogLevel> ClaimedLogLevel(const JsonValue& params);

// The progressToken as JSON, "" if there is none; -32602 for anything but a string or a number.
std::expected<std::string, rpc::Failure> ProgressToken(const JsonValue& params);

}  // namespace pa
