// ToolRequest: a call whose arguments fit its tool's parameters. Whether the policy allows the call
// is not decided yet.
//
//    std::expected<ToolRequest, ToolError> request = MakeToolRequest(*tool, json);
#pragma once

#include <expected>
#include <optional>
#include <utility>

#include "base/json.h"
#include "supervisor/call/arguments.h"
#include "supervisor/call/tool.h"
#include "supervisor/call/tool_error.h"

namespace pa {

// Only MakeToolRequest can make one.
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

// INVALID_ARGUMENT, too: the argument `result` asks for what the tool's results do not have.
std::expected<ToolRequest, ToolError> MakeToolRequest(const Tool& tool, const JsonValue* arguments);

// Whether the tool's results have what `order` asks for.
std::optional<ToolError> CheckResultOrder(const Tool& tool, const ResultOrder& order);

}  // namespace pa
