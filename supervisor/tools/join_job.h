// JoinJob: the network of a job, for another command (argument `job` of make and bash).
//
//    Task<NetworkOr> task = JoinJob(id, allow.confinement().network, call);
//    NetworkOr network = co_await task;
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "supervisor/call/call_context.h"
#include "supervisor/call/tool_error.h"
#include "supervisor/run/command_network.h"

namespace pa {

// The error of every use of an id that is none of a job.
ToolError NoSuchJob();

// What helps a command that was refused a connection although a job listens, since each command has
// a network of its own; "": nothing of the kind. `output`: what it printed.
std::string InAnotherNetwork(std::string_view output, sandbox::Network network,
                             const CallContext& call);

using NetworkOr = std::expected<CommandNetwork, ToolError>;

// `network`: that of the command which is to share it. POLICY_DENIED: the policy gives commands no
// network of their own. NOT_FOUND: there is no such job. INVALID_ARGUMENT: its command has no
// network that can be shared, or has none now.
Task<NetworkOr> JoinJob(std::string id, sandbox::Network network, CallContext& call);

}  // namespace pa
