// Pipeline: calls of tools, one after the other, in which later ones use results of earlier ones.
//
//    Pipeline pipeline{.steps = {...}, .returns = ..., .timeout = kPipelineTime};
//    if (auto error = CheckPipeline(pipeline, *call.starter)) co_return RefusedCall(*error);
//    Task<ToolResult> task = RunPipeline(std::move(pipeline), call);      // run_pipeline.h
//
// A step's arguments hold templates (template_text.h). In an argument that a shell executes, values
// are arguments of the program (shell_template.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "supervisor/call/call_starter.h"
#include "supervisor/call/tool_error.h"
#include "supervisor/jobs/templates.h"
#include "supervisor/results/result_order.h"

namespace pa {

inline constexpr std::size_t kMaxSteps = 20;
inline constexpr std::chrono::milliseconds kPipelineTime{120'000};
inline constexpr std::chrono::milliseconds kMaxPipelineTime{300'000};

struct PipelineStep {
  std::string id;
  std::string tool;
  JsonValue args = {};    // an object, or null: none
  JsonValue result = {};  // the argument `result` of the call; null: none

  // The arguments of the call, `result` among them.
  JsonValue Arguments() const;
};

struct Pipeline {
  std::vector<PipelineStep> steps;
  std::optional<JsonValue> returns;  // an object with templates; nothing: the last step's data
  std::optional<ResultOrder> result;
  std::chrono::milliseconds timeout = kPipelineTime;

  std::vector<std::string> Ids() const;
};

// What can be found wrong before anything runs: a tool that must not be called, ids, templates,
// arguments that are known already. `details.step` is the step that may not run, or `_validation`
// with all errors.
std::optional<ToolError> CheckPipeline(const Pipeline& pipeline, const CallStarter& calls);

// A step's arguments with all values in them.
struct PreparedStep {
  JsonValue arguments;
  std::optional<ShellProgram> shell;
  std::string empty;  // an array that came out empty, so that there is nothing to do; "" = none
};
// `earlier`: the ids before this step.
std::expected<PreparedStep, TemplateError> PrepareStep(const PipelineStep& step, const Tool& tool,
                                                       std::span<const std::string> earlier,
                                                       std::span<const std::string> all,
                                                       const ValueOf& value_of);

}  // namespace pa
