// Dispatch: takes a call from the name and arguments of a tool to its result, in the same way for
// every caller: a client's session, the command line, a watched Makefile. Only here do these steps
// follow each other, between the two lines of the audit log: the policy enables the tool, the
// arguments are valid, the user approves, the tool runs, `result` is applied.
//
//    CallContext context = NewContext(services, cancel);         // outlives the task
//    CallOrder order{.caller = caller, .tool = "make", .arguments = &json};
//    Task<ToolResult> task = Dispatch(services, std::move(order), context);
//
// Every call is recorded, refused ones included.
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

class InnerCalls;  // dispatch.cc

struct CallOrder {
  AuditCaller caller;
  std::string tool;                      // as the caller named it; it may not exist
  const JsonValue* arguments = nullptr;  // borrowed until Dispatch has returned; null: none
  const InnerCalls* within = nullptr;    // the call that makes this one; null: a client's own
};

// A context with the policy that is in force now. `services` and `cancel` must outlive it.
CallContext NewContext(const Services& services, CancelSource& cancel);

Task<ToolResult> Dispatch(const Services& services, CallOrder order, CallContext& context);

// Refuses and records a call whose message is already wrong; nothing runs.
Task<ToolResult> Refuse(const Services& services, CallOrder order, ToolError error);

// Runs and records `work` of the server itself: without the checks of Dispatch, and without waiting
// for the start.
Task<ToolResult> DispatchOwn(const Services& services, CallOrder order, Task<ToolResult> work,
                             CallContext& context);

// The tool of that name, of those that this server has; null: none.
const Tool* FindTool(const Services& services, std::string_view name);

}  // namespace pa
