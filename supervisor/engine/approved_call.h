// RunApproved: runs a tool. If the tool needs an approval, asks the user and runs it again, as
// often as needed.
//
//    call.approver = &approver;                     // null: nobody can be asked
//    Task<ToolResult> task = RunApproved(std::move(request), call);
//
// Questions and answers are noted in call.record.
#pragma once

#include "supervisor/call/call_context.h"
#include "supervisor/call/tool_request.h"
#include "supervisor/call/tool_result.h"

namespace pa {

Task<ToolResult> RunApproved(ToolRequest request, CallContext& call);

}  // namespace pa
