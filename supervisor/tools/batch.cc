#include "supervisor/tools/batch.h"

#include <fmt/format.h>

#include <utility>

#include "supervisor/call/call_starter.h"
#include "supervisor/call/tool_request.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/jobs/batch.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/work.h"

namespace pa {
namespace {

constexpr std::string_view kOnError[] = {"continue", "stop"};
constexpr std::string_view kStop = kOnError[1];

constexpr Param kBatchParams[] = {
    {.name = kBatchTool, .required = true},
    {.name = kBatchItems,
     .kind = ParamKind::kObjectArray,
     .required = true,
     .description = "The arguments of each call.",
     .maximum = kMaxItems},
    {.name = "concurrency",
     .kind = ParamKind::kInteger,
     .minimum = 1,
     .maximum = kMaxConcurrency,
     .default_integer = 5},
    {.name = "on_error", .description = "Default: continue.", .one_of = kOnError},
    {.name = "detail",
     .kind = ParamKind::kBoolean,
     .description = "false: results of failures alone. Default: true."},
    {.name = "max_retries",
     .kind = ParamKind::kInteger,
     .description = "Of a call that was BUSY or RATE_LIMITED.",
     .maximum = kMaxRetries,
     .default_integer = 0},
    kBackgroundParam,
    kResultParam,
};

constexpr ResultField kBatchData[] = {
    {.name = "total", .kind = FieldKind::kInteger, .required = true},
    {.name = "succeeded", .kind = FieldKind::kInteger, .required = true},
    {.name = "failed", .kind = FieldKind::kInteger, .required = true},
    {.name = "skipped", .kind = FieldKind::kInteger, .required = true},
    {.name = "results", .kind = FieldKind::kObjectArray},
};
constexpr std::string_view kBatchResultItems[] = {"results"};

Task<ToolResult> RunBatchTool(ToolRequest request, CallContext& call) {
  const Arguments& arguments = request.arguments();
  auto work = StartWork(request, "", call);
  if (!work) co_return RefusedCall(std::move(work.error()));
  const std::string* on_error = arguments.String("on_error");
  Batch batch{.tool = *arguments.String(kBatchTool),
              .items = arguments.Json(kBatchItems)->Items(),
              .concurrency = static_cast<std::size_t>(*arguments.Integer("concurrency")),
              .stops = on_error != nullptr && *on_error == kStop,
              .detail = !arguments.Given("detail") || arguments.Boolean("detail"),
              .retries = static_cast<std::size_t>(*arguments.Integer("max_retries"))};
  // Nobody is asked about what cannot run.
  if (auto error = call.starter->WhyNot(batch.tool)) co_return RefusedCall(*std::move(error));
  const auto permission = Permit(*work, call, policy::Purpose::kInspect);
  if (!permission) co_return RefusedCall(permission.error());
  if (call.begins) {
    call.begins(fmt::format("batch of {} calls of {}", batch.items.size(), batch.tool));
  }
  Task<ToolResult> task = RunBatch(std::move(batch), call);
  ToolResult result = co_await task;
  co_return result;
}

}  // namespace

const Tool kBatch = {
    .name = "batch",
    .title = "Batch",
    .description = "Call one tool up to 100 times, several at once; results keep their order.",
    .annotations = {.destructive = true, .open_world = true},
    .params = kBatchParams,
    .data = kBatchData,
    .items = kBatchResultItems,
    .run = RunBatchTool,
    .purpose = std::nullopt,
    .level = 1};

}  // namespace pa
