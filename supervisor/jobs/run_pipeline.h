// RunPipeline: runs the steps of a pipeline (pipeline.h) one after the other.
//
//    Task<ToolResult> task = RunPipeline(std::move(pipeline), call);
//
// The data is the last step's, or what `returns` says. If a step fails, nothing runs after it, and
// the data has the results of all steps so far: {completed, total, step_results: {ID: {success,
// duration_ms, result: {data?, error?, meta}}}}; the error has the step's code, and `details.step`.
//
// The timeout is checked before each step; a step that runs is not interrupted by it. Time in which
// a step waits for the user does not count. A step that wants an approval waits where it stands.
#pragma once

#include "supervisor/call/call_context.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/jobs/pipeline.h"

namespace pa {

// CheckPipeline has passed. `call.starter` makes the steps' calls.
Task<ToolResult> RunPipeline(Pipeline pipeline, CallContext& call);

}  // namespace pa
