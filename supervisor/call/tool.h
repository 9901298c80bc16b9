// Tool: one thing that a client can call. One file a tool in supervisor/tools/, one line in
// supervisor/tools/registry.cc, nothing else.
//
// To add a tool: write supervisor/tools/NAME.{h,cc} with a `const Tool kName`, add its line to
// registry.cc, its tests to tests/..., its row to docs and README. Nothing registers itself.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"
#include "supervisor/call/approval.h"
#include "supervisor/call/call_record.h"
#include "supervisor/call/param_spec.h"
#include "supervisor/call/tool_error.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/loop/cancel_source.h"
#include "supervisor/loop/task.h"
#include "supervisor/run/execution.h"
#include "supervisor/run/runner.h"

namespace pa {

class TargetCache;  // supervisor/tools/target_cache.h

struct Tool;

// A validated call; only MakeToolRequest can make one.
class ToolRequest {
 public:
  const Tool& tool() const { return *tool_; }
  const Arguments& arguments() const { return arguments_; }

 private:
  friend struct ToolRequestMaker;
  ToolRequest(const Tool& tool, Arguments arguments)
      : tool_(&tool), arguments_(std::move(arguments)) {}
  const Tool* tool_;
  Arguments arguments_;
};
std::expected<ToolRequest, ToolError> MakeToolRequest(const Tool& tool, const JsonValue* arguments);

// What a running call may use. Owned by the session; outlives the call.
struct CallContext {
  policy::PolicyPtr policy;  // in force when the call began
  Runner& runner;
  TargetCache& targets;
  const std::map<std::string, std::string>& ambient;  // our own environment
  OutputSink* sink = nullptr;                         // live output; may be null
  CancelSource& cancel;
  CallRecord record = {};  // what the steps of the call decide and run
  Approvals approvals = {};
  Approver* approver = nullptr;  // null: nobody can be asked
};

struct Annotations {
  bool read_only = false;
  bool destructive = false;
  bool idempotent = false;
  bool open_world = false;
};

struct Tool {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  Annotations annotations;
  std::span<const Param> params;
  std::string_view data_schema;  // JSON Schema of `data`, for outputSchema
  Task<ToolResult> (*run)(ToolRequest request, CallContext& call);
  policy::Purpose purpose = policy::Purpose::kBuild;  // says with which calls it waits to begin
};

// JSON Schema of the envelope (StructuredContent) with the tool's own data inside.
std::string OutputSchema(const Tool& tool);

// `make_targets, make, ...`: what an unknown tool is answered with.
std::string ToolNames(std::span<const Tool* const> tools);

}  // namespace pa
