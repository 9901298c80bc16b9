// CheckHeaders: the header fields in which a client of MCP 2026-07-28 repeats what its request
// says, so that proxies can route by them. The server must not do another thing than a proxy has
// let pass.
//
//    if (auto failure = CheckHeaders(head, request)) ...     // HTTP 400
//
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
#pragma once

#include <optional>
#include <string>

#include "supervisor/mcp/session.h"
#include "supervisor/text/http_request.h"
#include "supervisor/transport/http_server.h"
#include "supervisor/transport/rpc.h"

namespace pa {

// Whether a request has an envelope, or names 2026-07-28 in MCP-Protocol-Version.
bool IsModernRequest(const HttpHead& head, const rpc::Request& request);

// Of such a request. -32020: a field is missing, or differs from the body. -32602, -32022: the
// envelope is wrong. Nothing: the request is consistent.
std::optional<rpc::Failure> CheckHeaders(const HttpHead& head, const rpc::Request& request);

// The peer as the audit log names it.
SessionOptions CallerOf(const HttpPeer& peer);

// The field `traceparent` of a request (https://www.w3.org/TR/trace-context/); "": there is none.
std::string TraceIn(const HttpHead& head);

}  // namespace pa
