#include "supervisor/engine/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/did_you_mean.h"
#include "base/finally.h"
#include "base/try.h"
#include "policy/decide.h"
#include "supervisor/audit/audit_log.h"
#include "supervisor/call/as_meant.h"
#include "supervisor/call/call_starter.h"
#include "supervisor/call/tool_error.h"
#include "supervisor/engine/apply_result.h"
#include "supervisor/engine/approved_call.h"
#include "supervisor/engine/call_counts.h"
#include "supervisor/engine/call_rate.h"
#include "supervisor/jobs/fit_data.h"
#include "supervisor/jobs/jobs.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/within_memory.h"

namespace pa {
namespace {

// Why `tool` must not be called at all, whatever its arguments. `outer`: the tool that calls it;
// null: a client does.
std::optional<ToolError> RefusedByPolicy(const policy::Policy& policy, const Tool& tool,
                                         const Tool* outer) {
  const std::string name(tool.name);
  const bool reads = tool.annotations.read_only;
  if (!policy.ToolEnabled(name, reads)) return Denied(policy::ToolDisabled(name));
  if (outer == nullptr) return std::nullopt;
  if (!policy.InnerCallAllowed(name, reads)) return Denied(policy::NotFromWithin(policy, name));
  if (tool.level < outer->level) return std::nullopt;
  return InvalidArgument(fmt::format("a {} cannot call {}", outer->name, name),
                         fmt::format("Call {} by itself.", name));
}

struct Admitted {
  std::optional<JsonValue> meant;  // in place of the arguments
  ToolRequest request;
};

std::expected<Admitted, ToolError> Admit(const Tool& tool, const JsonValue* arguments) {
  PA_TRY(auto meant, AsMeant(tool.params, arguments));
  PA_TRY(auto request, MakeToolRequest(tool, meant ? &*meant : arguments));
  return Admitted{std::move(meant), std::move(request)};
}

ToolError UnknownTool(const Services& services, const std::string& name) {
  std::vector<std::string_view> names;
  for (const Tool* tool : services.tools) names.push_back(tool->name);
  return InvalidArgument("there is no tool '" + name + "'" + DidYouMean(name, names),
                         "The tools are: " + ToolNames(services.tools) + ".");
}

AuditedCall Begin(const Services& services, CallOrder order) {
  const Tool* tool = FindTool(services, order.tool);
  return NewCall(std::move(order.caller), order.tool.substr(0, kMaxAuditText),
                 tool != nullptr && tool->annotations.read_only, order.arguments);
}

std::expected<const Tool*, ToolError> ToolToCall(const Services& services,
                                                 const policy::Policy& policy,
                                                 const std::string& name, const Tool* outer) {
  const Tool* tool = FindTool(services, name);
  if (tool == nullptr) return std::unexpected(UnknownTool(services, name));
  if (auto refused = RefusedByPolicy(policy, *tool, outer)) {
    return std::unexpected(*std::move(refused));
  }
  return tool;
}

}  // namespace

// What a call of a tool with a level may call, as the caller that it has itself.
class InnerCalls final : public CallStarter {
 public:
  // `made`: how many were made of the client's call. `log`: its own.
  InnerCalls(const Services& services, const Tool& outer, AuditCaller caller,
             std::shared_ptr<std::size_t> made, CallLog log)
      : services_(services),
        outer_(outer),
        caller_(std::move(caller)),
        made_(std::move(made)),
        log_(std::move(log)) {}

  const Tool* Find(std::string_view name) const override { return FindTool(services_, name); }
  std::optional<ToolError> WhyNot(const std::string& tool) const override {
    auto found = ToolToCall(services_, *services_.policy(), tool, &outer_);
    return found ? std::nullopt : std::optional(std::move(found.error()));
  }
  std::optional<ToolError> CheckArguments(
      const Tool& tool, const JsonValue& arguments,
      const std::set<std::string, std::less<>>& later) const override;
  CallContext NewContext(CancelSource& cancel) override {
    CallContext context = pa::NewContext(services_, cancel);
    context.log = log_;
    return context;
  }
  Task<ToolResult> Start(std::string tool, JsonValue arguments, CallContext& context) override;

  const Tool& outer() const { return outer_; }
  const std::shared_ptr<std::size_t>& made() const { return made_; }

 private:
  const Services& services_;
  const Tool& outer_;
  AuditCaller caller_;
  std::shared_ptr<std::size_t> made_;
  CallLog log_;
};

std::optional<ToolError> InnerCalls::CheckArguments(
    const Tool& tool, const JsonValue& arguments,
    const std::set<std::string, std::less<>>& later) const {
  std::vector<Param> params;
  for (const Param& param : tool.params) {
    if (!later.contains(param.name)) params.push_back(param);
  }
  std::vector<JsonValue::Member> known;
  for (const JsonValue::Member& member : arguments.Members()) {
    if (!later.contains(member.first)) known.push_back(member);
  }
  Tool partial = tool;
  partial.params = params;
  const JsonValue object = JsonValue::Object(std::move(known));
  auto admitted = Admit(partial, &object);
  if (admitted) return std::nullopt;
  return std::move(admitted.error());
}

Task<ToolResult> InnerCalls::Start(std::string tool, JsonValue arguments, CallContext& context) {
  if (*made_ >= kMaxInnerCalls) {
    co_return RefusedCall(
        {.code = ErrorCode::kLimitExceeded,
         .message = fmt::format("one call makes at most {} calls", kMaxInnerCalls),
         .ai_message = "Make the other calls in another pipeline or batch.",
         .details = {}});
  }
  ++*made_;
  const auto began = std::chrono::steady_clock::now();
  CallOrder order{.caller = caller_, .tool = tool, .arguments = &arguments, .within = this};
  Task<ToolResult> task = Dispatch(services_, std::move(order), context);
  ToolResult result = co_await task;
  LogOutcome(log_, tool, result,
             std::chrono::duration_cast<std::chrono::microseconds>(
                 std::chrono::steady_clock::now() - began));
  co_return result;
}

namespace {

// Memory that the counting lacks is no reason to lose the result.
Task<ToolResult> Counted(const Services& services, std::string_view tool, Task<ToolResult> work) {
  const auto began = std::chrono::steady_clock::now();
  ToolResult result = co_await work;
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - began);
  try {
    services.counts.Add(tool, result.error ? CodeText(result.error->code) : kCallSucceeded, took);
  } catch (const std::bad_alloc&) {
    LogWarning("not enough memory to count a call");
  }
  co_return result;
}

Task<ToolResult> Recorded(const Services& services, AuditedCall call, Task<ToolResult> work,
                          CallContext& context) {
  return RunAudited(services.audit, std::move(call), std::move(work), context);
}

// Of a string in the data of a call of calls.
constexpr std::size_t kShownText = 4U << 10;

// `starter` is null for tools that call no others.
Task<ToolResult> RunForeground(const Services& services, ToolRequest request,
                               std::unique_ptr<InnerCalls> starter, CallContext& context) {
  const Tool& tool = request.tool();
  std::optional<ResultOrder> order = ResultOrderOf(request);
  context.starter = starter.get();
  Task<ToolResult> running = RunApproved(std::move(request), context);
  ToolResult result = co_await running;
  context.starter = nullptr;
  if (order) {
    const Tool& whose = result.data_of != nullptr ? *result.data_of : tool;
    Task<ToolResult> applying =
        ApplyResult(services, whose, *std::move(order), std::move(result), context);
    result = co_await applying;
  }
  const bool own_size = result.data_of != nullptr && result.data_of->level == 0;
  if (tool.level > 0 && !own_size && !context.inner) {
    FitResult(result, context, kShownText, std::string(tool.name) + ": all of its data");
  }
  co_return result;
}

// Before the handle, which promises only ports that are served.
std::optional<ToolError> ServePorts(const Services& services, Job& job, const ToolRequest& request,
                                    const CallContext& context) {
  const std::vector<std::uint16_t>* ports = request.arguments().Ports("ports");
  if (ports == nullptr) return std::nullopt;
  if (auto refused = policy::WhyNoPorts(*context.policy)) return Denied(*refused);
  return services.jobs.Serve(job, *ports);
}

// The request is answered when the call begins: whoever may not run it, or is asked first, hears of
// it as of any call.
Task<ToolResult> RunBackground(const Services& services, ToolRequest request,
                               std::unique_ptr<InnerCalls> starter, CallContext& context) {
  if (context.request == nullptr) {
    co_return RefusedCall(InvalidArgument(
        "the argument 'background' is for calls of a client that stays connected",
        "Leave background out: on the command line, in a pipeline and in a batch a call is "
        "waited for."));
  }
  // Who cannot read, await or stop a job has no use for one.
  if (!context.policy->ToolEnabled("job", false)) {
    co_return RefusedCall(Denied(policy::ToolDisabled("job")));
  }
  auto begun = services.jobs.Begin(request.tool().name, context);
  if (!begun) co_return RefusedCall(std::move(begun.error()));
  const std::shared_ptr<Job> job = *std::move(begun);
  if (auto refused = ServePorts(services, *job, request, context)) {
    ToolResult result = RefusedCall(*std::move(refused));
    services.jobs.End(*job, result);
    co_return result;
  }
  bool started = false;
  const Finally gone([&context] { context.begins = nullptr; });
  context.begins = [&](const std::string& what) {
    if (std::exchange(started, true)) return;
    services.jobs.Start(job, what);
    context.request->AnswerEarly(HandleOf(*job));
  };
  Task<ToolResult> running =
      WithinMemory(RunForeground(services, std::move(request), std::move(starter), context),
                   [] { return RefusedCall(OutOfMemory()); });
  ToolResult result = co_await running;
  services.jobs.End(*job, result);
  co_return result;
}

Task<ToolResult> Refusing(ToolError error) { co_return RefusedCall(std::move(error)); }

Task<ToolResult> RunRequest(const Services& services, ToolRequest request,
                            std::unique_ptr<InnerCalls> starter, CallContext& context) {
  if (request.arguments().Boolean("background") && !request.arguments().Boolean("dry_run")) {
    return RunBackground(services, std::move(request), std::move(starter), context);
  }
  if (request.arguments().Ports("ports") != nullptr && !request.arguments().Boolean("dry_run")) {
    return Refusing(InvalidArgument("the argument 'ports' is for calls with background: true",
                                    "Add background: true; the handle has the URLs."));
  }
  return RunForeground(services, std::move(request), std::move(starter), context);
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
          .cancel = cancel,
          .jobs = &services.jobs};
}

// What is allowed comes before what is right: how a tool that is off is called concerns nobody.
Task<ToolResult> Dispatch(const Services& services, CallOrder order, CallContext& context) {
  const auto refuse = [&](ToolError error) {
    return Refuse(services, std::move(order), std::move(error));
  };
  if (const std::uint64_t limit = context.policy->limits.calls_per_minute;
      limit != policy::kAllCalls) {
    const auto wait = services.rate.Take(limit, std::chrono::steady_clock::now());
    if (wait) return refuse(RateLimited(limit, *wait));
  }
  const InnerCalls* within = order.within;
  const auto found = ToolToCall(services, *context.policy, order.tool,
                                within == nullptr ? nullptr : &within->outer());
  if (!found) return refuse(found.error());
  const Tool* tool = *found;
  auto admitted = Admit(*tool, order.arguments);
  if (!admitted) return refuse(std::move(admitted.error()));
  // The log has them as they are used: the file that is edited is not hidden in a long text.
  if (admitted->meant) order.arguments = &*admitted->meant;
  const bool calls = tool->level > 0;
  if (calls || context.policy->EverAsks()) {
    context.shown.arguments = ShownArguments(order.arguments);
  }
  AuditedCall call = Begin(services, std::move(order));
  std::unique_ptr<InnerCalls> starter;
  if (calls) {
    AuditCaller caller = call.caller;
    caller.within = call.id;
    starter = std::make_unique<InnerCalls>(
        services, *tool, std::move(caller),
        within != nullptr ? within->made() : std::make_shared<std::size_t>(0), context.log);
  }
  Task<ToolResult> work = services.after_start(
      RunRequest(services, std::move(admitted->request), std::move(starter), context), tool->name,
      context.cancel);
  return Counted(services, tool->name,
                 Recorded(services, std::move(call), std::move(work), context));
}

Task<ToolResult> DispatchOwn(const Services& services, CallOrder order, Task<ToolResult> work,
                             CallContext& context) {
  return Recorded(services, Begin(services, std::move(order)), std::move(work), context);
}

Task<ToolResult> Refuse(const Services& services, CallOrder order, ToolError error) {
  const Tool* const tool = FindTool(services, order.tool);
  return Counted(services, tool == nullptr ? kNoSuchTool : tool->name,
                 RefuseAudited(services.audit, Begin(services, std::move(order)), std::move(error),
                               services.policy()->audit, services.runner));
}

}  // namespace pa
