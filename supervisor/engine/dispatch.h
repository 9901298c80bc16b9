// Dispatch: a call, from a tool's name and arguments to its result, the same way for every door: a
// client's session, the command line, a watched Makefile. The only place where these follow each
// other: the policy has the tool on, the arguments are valid, the user approves, the tool runs;
// between the two lines of the audit log.
//
//   CallContext context = NewContext(services, cancel);         // outlives the task
//   CallOrder order{.caller = caller, .tool = "make", .arguments = &json};
//   Task<ToolResult> task = Dispatch(services, std::move(order), context);
//
// Whatever becomes of a call is recorded, also that it is refused.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "supervisor/audit/audit_event.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/tool.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/engine/services.h"

namespace pa {

struct CallOrder {
  AuditCaller caller;
  std::string tool;                      // as it was called; there may be none of that name
  const JsonValue* arguments = nullptr;  // borrowed while the task is made; null: none
};

// Under the policy that is in force now. `services` and `cancel` outlive it.
CallContext NewContext(const Services& services, CancelSource& cancel);

Task<ToolResult> Dispatch(const Services& services, CallOrder order, CallContext& context);

// A call whose message is wrong already: nothing runs.
Task<ToolResult> Refuse(const Services& services, CallOrder order, ToolError error);

// `work` of the server's own, which no client has called and which waits for nothing.
Task<ToolResult> DispatchOwn(const Services& services, CallOrder order, Task<ToolResult> work,
                             CallContext& context);

// Of those that this server has; null: none.
const Tool* FindTool(const Services& services, std::string_view name);

}  // namespace pa
