// The envelope of 2026-07-28: every request says in params._meta which revision it speaks.
//
//   if (auto claim = ClaimedRevision(request.params)) ...   // modern, or -32602 or -32022
//   else ...                                                // a legacy message, or a forgotten
//   _meta
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "base/json.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/transport/rpc.h"

namespace pa {

// Nothing when no key of the envelope is there.
std::optional<std::expected<Revision, rpc::Failure>> ClaimedRevision(const JsonValue& params);

// -32602 for a request that needs an envelope and has none.
rpc::Failure MissingEnvelope();

// -32022.
rpc::Failure UnsupportedVersion(std::string_view requested);

// What a client says of itself: "" where it says nothing, or no text.
struct ClientInfo {
  std::string name, version;
};
ClientInfo ClientInfoIn(const JsonValue* client_info);
// That of the envelope; nothing when it has none.
std::optional<ClientInfo> ClaimedClient(const JsonValue& params);

// The capabilities of the client; null when the envelope has none.
const JsonValue* ClaimedCapabilities(const JsonValue& params);

// `traceparent` of `_meta`, as the client wrote it; "" when there is none
// (https://www.w3.org/TR/trace-context/).
std::string TraceParent(const JsonValue& params);

// The progressToken as JSON, "" when there is none; -32602 for anything but a string or a number.
std::expected<std::string, rpc::Failure> ProgressToken(const JsonValue& params);

}  // namespace pa
