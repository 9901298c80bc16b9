// CallStarter: calls tools from within a call. Each such call goes through the same door as a
// client's (supervisor/engine/dispatch.h): policy, validation, approval, audit.
//
//    if (auto refused = call.starter->WhyNot("make")) ...          // before anything runs
//    CallContext inner = call.starter->NewContext(cancel);         // outlives the task
//    inner.approver = call.approver;
//    Task<ToolResult> task = call.starter->Start("make", arguments, inner);
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/json.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/tool.h"
#include "supervisor/call/tool_error.h"
#include "supervisor/call/tool_result.h"

namespace pa {

// Of one call of a client, calls within its inner calls included.
inline constexpr std::size_t kMaxInnerCalls = 200;

class CallStarter {
 public:
  virtual ~CallStarter() = default;

  // The tool of that name; null: none.
  virtual const Tool* Find(std::string_view name) const = 0;
  // Why no call of `tool` may be made from here: there is none of that name, it is off, the policy
  // does not let it be called from within another call, or it is not of a lower level.
  virtual std::optional<ToolError> WhyNot(const std::string& tool) const = 0;
  // What is wrong with the arguments of a call. The arguments `later` are not known yet.
  virtual std::optional<ToolError> CheckArguments(
      const Tool& tool, const JsonValue& arguments,
      const std::set<std::string, std::less<>>& later) const = 0;

  // With the policy that is in force now; nobody can be asked, and nobody gets the output.
  virtual CallContext NewContext(CancelSource& cancel) = 0;
  // `context` is NewContext's. LIMIT_EXCEEDED beyond kMaxInnerCalls.
  virtual Task<ToolResult> Start(std::string tool, JsonValue arguments, CallContext& context) = 0;
};

}  // namespace pa
