// ToolResult -> the JSON that clients get: the contract's envelope, and the result around it.
//
//   std::string json = CallToolResult(result, elapsed, revision, identity);   // tools/call
//   std::string line = StructuredContent(result, elapsed);                    // `call --json`
#pragma once

#include <chrono>
#include <string>

#include "supervisor/protocol.h"
#include "supervisor/tool.h"

namespace pa {

// {"success","data"?,"error"?,"meta":{"duration_ms",...}}, one line.
std::string StructuredContent(const ToolResult& result, std::chrono::microseconds duration);

std::string CallToolResult(const ToolResult& result, std::chrono::microseconds duration,
                           Revision revision, const Identity& identity);

// JSON Schema of the envelope with the tool's own data inside.
std::string OutputSchema(const Tool& tool);

// A refusal with its text: `CODE: message`, then what to do next; of more than 32 KiB the beginning and the end.
ToolResult RefusedCall(ToolError error);

}  // namespace pa
