// A kept result in place of a file of the project: the argument `path` of read and grep may be the
// URI of one, or the path of a file that `result` has made (return_mode file).
//
//    if (auto kept = FindKept(call, path)) ...        // nothing: an ordinary path
//
// No rule about files is asked, because whoever knows 128 random bits was told them by this server.
// A rule that refuses the tool as a whole holds here, too.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/tool_error.h"
#include "supervisor/results/stored_bytes.h"

namespace pa {

// NOT_FOUND: it is no longer kept. INVALID_ARGUMENT: the URI has a query.
std::optional<std::expected<StoredBytes, ToolError>> FindKept(const CallContext& call,
                                                              const std::string& path);

// The same file for a command's stdin: for reading alone, from its beginning.
std::expected<std::shared_ptr<const UniqueFd>, ToolError> AsStdin(const StoredBytes& stored);

}  // namespace pa
