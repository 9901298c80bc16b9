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
#include "supervisor/protocol.h"
#include "supervisor/rpc.h"

namespace pa {

// Nothing when no key of the envelope is there.
std::optional<std::expected<Revision, rpc::Failure>> ClaimedRevision(const JsonValue& params);

// -32602 for a request that needs an envelope and has none.
rpc::Failure MissingEnvelope();

// -32022.
rpc::Failure UnsupportedVersion(std::string_view requested);

// The progressToken as JSON, "" when there is none; -32602 for anything but a string or an integer.
std::expected<std::string, rpc::Failure> ProgressToken(const JsonValue& params);

}  // namespace pa
