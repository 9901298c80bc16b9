// Services: what an Engine gives to those who make calls: sessions, the command line, the engine
// itself.
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

class AuditLog;     // supervisor/audit/audit_log.h
class CallCounts;   // supervisor/engine/call_counts.h
class CallRate;     // supervisor/engine/call_rate.h
class Jobs;         // supervisor/jobs/jobs.h
class ResultFiles;  // supervisor/results/result_files.h

// Runs `work`, a call of `tool`, as soon as calls may begin (Engine::UndoEdits). If it is cancelled
// before that, `work` never begins.
using AfterStart = std::function<Task<ToolResult>(Task<ToolResult> work, std::string_view tool,
                                                  CancelSource& cancel)>;

// What calls are made with. All of it must outlive them.
struct Services {
  uv_loop_t* loop;
  std::function<policy::PolicyPtr()> policy;  // the one in force now; another one after SIGHUP
  Runner& runner;
  TargetCache& targets;
  ResultStore& results;
  Jobs& jobs;
  const ResultFiles& result_files;
  AfterStart after_start;
  const std::map<std::string, std::string>& ambient;
  std::span<const Tool* const> tools;
  AuditLog& audit;
  CallRate& rate;
  CallCounts& counts;
};

}  // namespace pa
