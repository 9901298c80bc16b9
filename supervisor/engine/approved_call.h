// RunApproved: a tool, and as often as it needs the user's approval, the question in between.
//
//   call.approver = &approver;                     // null: nobody can be asked
//   Task<ToolResult> task = RunApproved(std::move(request), call);
//
// What was asked and answered stands in call.record.
#pragma once

#include "supervisor/call/call_context.h"
#include "supervisor/call/tool_request.h"
#include "supervisor/call/tool_result.h"

namespace pa {

Task<ToolResult> RunApproved(ToolRequest request, CallContext& call);

}  // namespace pa
