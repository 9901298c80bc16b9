// Makes the result of tools/call from a ToolResult: content, and the envelope as structuredContent.
//
//    std::string json = CallToolResult(result, elapsed, revision, identity);
#pragma once

#include <chrono>
#include <string>

#include "supervisor/call/tool_result.h"
#include "supervisor/mcp/protocol.h"

namespace pa {

// Without structuredContent if `identity.text_only`, or if the result has an image.
std::string CallToolResult(const ToolResult& result, std::chrono::microseconds duration,
                           Revision revision, const Identity& identity);

}  // namespace pa
