// Services: what an Engine gives to those who make calls.
#pragma once

#include <uv.h>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "policy/policy.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/tool.h"
#include "supervisor/call/tool_result.h"

namespace pa {

class AuditLog;  // supervisor/audit/audit_log.h

// Lets `work`, of the call of a tool, begin as soon as calls may; where it is cancelled before,
// never.
using AfterStart = std::function<Task<ToolResult>(Task<ToolResult> work, std::string_view tool,
                                                  CancelSource& cancel)>;

// What calls are made with, whoever makes them; all of it outlives them.
struct Services {
  uv_loop_t* loop;
  std::function<policy::PolicyPtr()> policy;  // in force now; another one after SIGHUP
  Runner& runner;
  TargetCache& targets;
  ResultStore& results;
  AfterStart after_start;
  const std::map<std::string, std::string>& ambient;
  std::span<const Tool* const> tools;
  AuditLog& audit;
};

}  // namespace pa
