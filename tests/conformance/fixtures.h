// What the official conformance suite of MCP expects of a server beside its protocol: tools,
// prompts and resources of given names (https://github.com/modelcontextprotocol/conformance). They
// are called like our own, through Dispatch, and are in the test's server alone.
#pragma once

#include <chrono>
#include <span>

#include "supervisor/call/tool.h"
#include "supervisor/mcp/prompts.h"
#include "supervisor/mcp/resources.h"
#include "supervisor/mcp/server_state.h"

namespace pa::conformance {

// jobs.detach_after of this server: the suite's jobs are tasks soon.
inline constexpr std::chrono::milliseconds kUntilTask{200};

// With our own. `test_trigger_tool_change` and the like tell the clients of `state`, which outlives
// them; their calls wait by `loop`.
std::span<const Tool* const> Tools(uv_loop_t* loop, ServerState& state);
const PromptSource& Prompts();
const ResourceSource& Resources();

}  // namespace pa::conformance
