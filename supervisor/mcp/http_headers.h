// CheckHeaders: the header fields in which a client of MCP 2026-07-28 repeats what its request
// says, so that proxies can route by them. What a proxy has judged must be what is done.
//
//    if (auto failure = CheckHeaders(head, request)) ...     // HTTP 400
//
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
#pragma once

#include <optional>

#include "supervisor/text/http_request.h"
#include "supervisor/transport/rpc.h"

namespace pa {

// Of a request with an envelope, or with MCP-Protocol-Version 2026-07-28: -32020 where a field is
// missing or differs from the body, and what is wrong with the envelope (-32602, -32022). Nothing:
// it is a request of that revision, and consistent.
std::optional<rpc::Failure> CheckHeaders(const HttpHead& head, const rpc::Request& request);

// Whether it is one of those, and not of an older revision.
bool IsModernRequest(const HttpHead& head, const rpc::Request& request);

}  // namespace pa
