#include "supervisor/tools/pipeline.h"

#include <fmt/format.h>

#include <utility>

#include "supervisor/call/tool_request.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/jobs/run_pipeline.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/work.h"

namespace pa {
namespace {

constexpr Param kStepFields[] = {
    {.name = "id", .required = true},
    {.name = "tool", .required = true},
    {.name = "args", .kind = ParamKind::kObject},
    {.name = "result", .kind = ParamKind::kObject},
};

constexpr Param kPipelineParams[] = {
    {.name = "steps",
     .kind = ParamKind::kObjectArray,
     .required = true,
     .description =
         "Run in order until one fails. In args {{ID.FIELD}} is a value of an earlier step's data, "
         "{{ID[0].FIELD}} and {{ID[*].FIELD}} of its list; {{r.json.FIELD}} needs result.items "
         "json.",
     .minimum = 1,
     .maximum = kMaxSteps,
     .fields = kStepFields},
    {.name = "return",
     .kind = ParamKind::kObject,
     .description = "The data to return, with templates. Default: the last step's."},
    {.name = "timeout_ms",
     .kind = ParamKind::kInteger,
     .description = "Checked before each step.",
     .minimum = 1,
     .maximum = kMaxPipelineTime.count(),
     .default_integer = kPipelineTime.count()},
    kBackgroundParam,
    {.name = "result",
     .kind = ParamKind::kResult,
     .description = "{items, filter, limit, fields, return_mode} of the data."},
};

// Of one that failed; otherwise the data is the last step's, or what `return` asks for.
constexpr ResultField kPipelineData[] = {
    {.name = "completed", .kind = FieldKind::kInteger},
    {.name = "total", .kind = FieldKind::kInteger},
    {.name = "step_results", .kind = FieldKind::kObject},
};

Pipeline PipelineOf(const Arguments& arguments) {
  Pipeline pipeline;
  for (const Arguments& step : *arguments.Objects("steps")) {
    const JsonValue* args = step.Json("args");
    const JsonValue* result = step.Json("result");
    pipeline.steps.push_back({.id = *step.String("id"),
                              .tool = *step.String("tool"),
                              .args = args == nullptr ? JsonValue() : *args,
                              .result = result == nullptr ? JsonValue() : *result});
  }
  if (const JsonValue* returns = arguments.Json("return")) pipeline.returns = *returns;
  if (const ResultOrder* result = arguments.result_order()) pipeline.result = *result;
  pipeline.timeout = std::chrono::milliseconds(*arguments.Integer("timeout_ms"));
  return pipeline;
}

Task<ToolResult> RunPipelineTool(ToolRequest request, CallContext& call) {
  auto work = StartWork(request, "", call);
  if (!work) co_return RefusedCall(std::move(work.error()));
  Pipeline pipeline = PipelineOf(request.arguments());
  // Nobody is asked about what cannot run.
  if (auto error = CheckPipeline(pipeline, *call.starter)) {
    co_return RefusedCall(*std::move(error));
  }
  const auto permission = Permit(*work, call, policy::Purpose::kInspect);
  if (!permission) co_return RefusedCall(permission.error());
  if (call.begins) call.begins(fmt::format("pipeline of {} steps", pipeline.steps.size()));
  Task<ToolResult> task = RunPipeline(std::move(pipeline), call);
  ToolResult result = co_await task;
  co_return result;
}

}  // namespace

const Tool kPipeline = {
    .name = "pipeline",
    .title = "Pipeline",
    .description =
        "Call several tools in one call, each with values of the steps before it. A failure "
        "returns the results of all steps so far.",
    .annotations = {.destructive = true, .open_world = true},
    .params = kPipelineParams,
    .data = kPipelineData,
    .run = RunPipelineTool,
    .purpose = std::nullopt,
    .level = 2,
    .has_output_schema = false};

}  // namespace pa
