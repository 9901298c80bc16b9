// ToolResult -> the result of tools/call: content, and the envelope as structuredContent.
//
//   std::string json = CallToolResult(result, elapsed, revision, identity);
#pragma once

#include <chrono>
#include <string>

#include "supervisor/protocol.h"
#include "supervisor/tool_result.h"

namespace pa {

std::string CallToolResult(const ToolResult& result, std::chrono::microseconds duration,
                           Revision revision, const Identity& identity);

}  // namespace pa
