#include "supervisor/engine/dispatch.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/did_you_mean.h"
#include "policy/decide.h"
#include "policy/rules.h"
#include "supervisor/audit/audit_log.h"
#include "supervisor/call/as_meant.h"
#include "supervisor/call/tool_error.h"
#include "supervisor/engine/apply_result.h"
#include "supervisor/engine/approved_call.h"

namespace pa {
namespace {

// Why `tool` must not be called at all, whatever its arguments.
std::optional<ToolError> RefusedByPolicy(const policy::Policy& policy, const Tool& tool) {
  const std::string name(tool.name);
  if (policy.ToolEnabled(name, tool.annotations.read_only)) return std::nullopt;
  return Denied(policy::ToolDisabled(name));
}

// What is allowed comes before what is right: how a tool that is off is called concerns nobody.
std::expected<std::optional<JsonValue>, ToolError> Admit(const policy::Policy& policy,
                                                         const Tool& tool,
                                                         const JsonValue* arguments) {
  if (auto refusal = RefusedByPolicy(policy, tool)) return std::unexpected(*std::move(refusal));
  return AsMeant(tool.params, arguments);
}

AuditedCall Begin(const Services& services, CallOrder order) {
  const Tool* tool = FindTool(services, order.tool);
  return NewCall(std::move(order.caller), order.tool.substr(0, kMaxAuditText),
                 tool != nullptr && tool->annotations.read_only, order.arguments);
}

ToolError UnknownTool(const Services& services, const std::string& name) {
  std::vector<std::string_view> names;
  for (const Tool* tool : services.tools) names.push_back(tool->name);
  return InvalidArgument("there is no tool '" + name + "'" + DidYouMean(name, names),
                         "The tools are: " + ToolNames(services.tools) + ".");
}

Task<ToolResult> RunRequest(const Services& services, ToolRequest request, CallContext& context) {
  const Tool& tool = request.tool();
  std::optional<ResultOrder> order = ResultOrderOf(request);
  Task<ToolResult> running = RunApproved(std::move(request), context);
  ToolResult result = co_await running;
  if (!order) co_return result;
  Task<ToolResult> applying =
      ApplyResult(services, tool, *std::move(order), std::move(result), context);
  ToolResult applied = co_await applying;
  co_return applied;
}

}  // namespace

const Tool* FindTool(const Services& services, std::string_view name) {
  const auto found = std::ranges::find(services.tools, name, &Tool::name);
  return found == services.tools.end() ? nullptr : *found;
}

CallContext NewContext(const Services& services, CancelSource& cancel) {
  return {.policy = services.policy(),
          .runner = services.runner,
          .targets = services.targets,
          .results = services.results,
          .result_files = services.result_files,
          .ambient = services.ambient,
          .cancel = cancel};
}

Task<ToolResult> Dispatch(const Services& services, CallOrder order, CallContext& context) {
  const Tool* tool = FindTool(services, order.tool);
  if (tool == nullptr) {
    ToolError unknown = UnknownTool(services, order.tool);
    return Refuse(services, std::move(order), std::move(unknown));
  }
  auto meant = Admit(*context.policy, *tool, order.arguments);
  if (!meant) return Refuse(services, std::move(order), std::move(meant.error()));
  // The log has them as they are used: the file that is edited is not hidden in a long text.
  if (*meant) order.arguments = &**meant;
  if (policy::EverAsk(context.policy->permissions)) {
    context.shown.arguments = ShownArguments(order.arguments);
  }
  auto request = MakeToolRequest(*tool, order.arguments);
  if (!request) return Refuse(services, std::move(order), std::move(request.error()));
  return DispatchOwn(services, std::move(order),
                     services.after_start(RunRequest(services, *std::move(request), context),
                                          tool->name, context.cancel),
                     context);
}

Task<ToolResult> DispatchOwn(const Services& services, CallOrder order, Task<ToolResult> work,
                             CallContext& context) {
  return RunAudited(services.audit, Begin(services, std::move(order)), std::move(work), context);
}

Task<ToolResult> Refuse(const Services& services, CallOrder order, ToolError error) {
  return RefuseAudited(services.audit, Begin(services, std::move(order)), std::move(error),
                       services.policy()->audit, services.runner);
}

}  // namespace pa
