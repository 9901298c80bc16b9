#include "supervisor/jobs/run_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "base/finally.h"
#include "base/json_writer.h"
#include "base/units.h"
#include "supervisor/jobs/fit_data.h"
#include "supervisor/jobs/inner_call.h"
#include "supervisor/jobs/step_value.h"

namespace pa {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Of all values in the arguments of one step: as much as one message may have, and as many as
// people write. Each is looked up on the loop.
constexpr std::size_t kMaxValueBytes = 16U << 20;
constexpr std::size_t kMaxValues = 200;
struct ValueRoom {
  std::size_t bytes = kMaxValueBytes;
  std::size_t values = kMaxValues;
};
// Of the text of one step that is shown of a pipeline that failed: at most, and at least.
constexpr std::size_t kMostShown = 4U << 10;
constexpr std::size_t kFewestShown = 512;

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

// The error of a step as that of the pipeline.
ToolError OfStep(const ToolError& error, const std::string& id) {
  ToolError whole = error;
  whole.message = fmt::format("step '{}': {}", id, error.message);
  JsonWriter details;
  details.BeginObject().Field("step", id);
  if (const auto inner = ParseJson(error.details); inner && inner->IsObject()) {
    for (const auto& [name, value] : inner->Members()) {
      if (name != "step") details.Key(name).Value(value);
    }
  }
  details.EndObject();
  whole.details = std::move(details).Take();
  return whole;
}

// The arguments of a step could not be made of the results before it.
ToolError NotPrepared(const TemplateError& error) {
  JsonWriter details;
  details.BeginObject().Field("argument", error.argument);
  if (!error.path.empty()) details.Field("path", error.path);
  details.EndObject();
  ToolError made =
      InvalidArgument(fmt::format("argument '{}': {}", error.argument, error.message),
                      "Look at the results of the steps before it, and call again with the steps "
                      "that are left.");
  made.details = std::move(details).Take();
  return made;
}

ToolResult Skipped(const std::string& parameter) {
  JsonWriter data;
  data.BeginObject().Field("skipped", "empty " + parameter).EndObject();
  ToolResult result;
  result.data = std::move(data).Take();
  result.text = fmt::format("skipped: {} is empty", parameter);
  return result;
}

// Whether the tool decides how much of its list it returns.
bool LeavesThePage(const PipelineStep& step, const Tool& tool) {
  constexpr std::string_view kLimit = "limit";
  return std::ranges::find(tool.params, kLimit, &Param::name) != tool.params.end() &&
         step.args.FindSet(kLimit) == nullptr && step.result.FindSet(kLimit) == nullptr;
}

class PipelineRun {
 public:
  PipelineRun(Pipeline pipeline, CallContext& call)
      : pipeline_(std::move(pipeline)), call_(call), ids_(pipeline_.Ids()) {}

  Task<ToolResult> Run();

 private:
  struct Finished {
    FinishedStep step;
    milliseconds took{0};
    std::unique_ptr<StepData> data = nullptr;  // once a template has asked for it
  };

  std::size_t done() const { return finished_.size(); }
  std::optional<ToolError> MayGoOn() const;
  Task<ToolResult> RunStep(const PipelineStep& step, const Tool& tool, milliseconds* took);
  std::expected<JsonValue, std::string> ValueFor(const StepReference& reference, ValueRoom* room);
  milliseconds Elapsed() const {
    return std::chrono::duration_cast<milliseconds>(Clock::now() - began_) - waited_;
  }
  std::string Headline(std::string_view outcome) const {
    return fmt::format("pipeline: {}, {} of {} steps in {} ms", outcome, done(),
                       pipeline_.steps.size(), Elapsed().count());
  }
  std::string LinesOfSteps() const;
  void Warnings(ToolResult& result) const;
  ToolResult Succeeded();
  ToolResult Returned();
  ToolResult Failed();

  Pipeline pipeline_;
  CallContext& call_;
  std::vector<std::string> ids_;
  std::deque<Finished> finished_;
  Clock::time_point began_ = Clock::now();
  milliseconds waited_{0};  // for the user
};

std::optional<ToolError> PipelineRun::MayGoOn() const {
  if (call_.cancel.cancelled()) return Cancelled("the pipeline");
  if (Elapsed() < pipeline_.timeout) return std::nullopt;
  return ToolError{.code = ErrorCode::kTimedOut,
                   .message = fmt::format("the time of the pipeline ({}) was over before this step",
                                          FormatDuration(pipeline_.timeout)),
                   .ai_message = fmt::format(
                       "step_results has what was done. Call again with the steps that are "
                       "left, or pass a larger timeout_ms (at most {}).",
                       kMaxPipelineTime.count()),
                   .details = {}};
}

std::expected<JsonValue, std::string> PipelineRun::ValueFor(const StepReference& reference,
                                                            ValueRoom* room) {
  if (room->values-- == 0) {
    return std::unexpected(
        fmt::format("{}: a step has more than {} templates", reference.Print(), kMaxValues));
  }
  const auto at = static_cast<std::size_t>(std::ranges::find(ids_, reference.id) - ids_.begin());
  Finished& finished = finished_[at];
  if (!finished.data) finished.data = std::make_unique<StepData>(finished.step, call_.results);
  auto value = finished.data->Value(reference);
  if (!value) return value;
  const std::size_t size = value->IsString() ? value->AsString().size() : value->Dump().size();
  if (size > room->bytes) {
    return std::unexpected(fmt::format("{}: the values of one step have more than {} bytes",
                                       reference.Print(), kMaxValueBytes));
  }
  room->bytes -= size;
  return value;
}

Task<ToolResult> PipelineRun::RunStep(const PipelineStep& step, const Tool& tool,
                                      milliseconds* took) {
  ValueRoom room;
  auto prepared =
      PrepareStep(step, tool, std::span(ids_).first(done()), ids_,
                  [&](const StepReference& reference) { return ValueFor(reference, &room); });
  if (!prepared) co_return RefusedCall(NotPrepared(prepared.error()));
  if (!prepared->empty.empty()) co_return Skipped(prepared->empty);
  InnerCall inner(call_, fmt::format("step '{}' of a pipeline", step.id));
  if (prepared->shell) inner.SetShell(*std::move(prepared->shell));
  // Whatever ends it: nobody is to look for it afterwards.
  const Finally gone([&] {
    call_.cancel.Forget();
    call_.record.doing = nullptr;
  });
  call_.record.doing = [&] {
    const std::string waits = inner.Waiting();
    return fmt::format("step {} ({} of {}){}{}", step.id, done() + 1, pipeline_.steps.size(),
                       waits.empty() ? "" : ": ", waits);
  };
  call_.cancel.OnCancel([&] { inner.Cancel(); });
  Task<ToolResult> task = inner.Run(step.tool, std::move(prepared->arguments));
  ToolResult result = co_await task;
  waited_ += inner.waited();
  *took = inner.took();
  co_return result;
}

Task<ToolResult> PipelineRun::Run() {
  for (const PipelineStep& step : pipeline_.steps) {
    const Tool& tool = *call_.starter->Find(step.tool);
    const JsonValue* items = step.result.Find("items");
    Finished finished{.step = {.tool = &tool, .items = {}, .result = {}}};
    if (items != nullptr && items->IsString()) {
      finished.step.items = items->AsString().substr(0, items->AsString().find_first_of(".["));
    }
    finished.step.page = LeavesThePage(step, tool);
    if (auto error = MayGoOn()) {
      finished.step.result = RefusedCall(*std::move(error));
    } else {
      Task<ToolResult> running = RunStep(step, tool, &finished.took);
      finished.step.result = co_await running;
    }
    const bool failed = finished.step.result.error.has_value();
    finished_.push_back(std::move(finished));
    if (failed) co_return Failed();
  }
  co_return pipeline_.returns ? Returned() : Succeeded();
}

// `test: make test: exit code 0 in 1.2 s`, a line for each step.
std::string PipelineRun::LinesOfSteps() const {
  std::string lines;
  for (std::size_t i = 0; i < done(); ++i) {
    lines += fmt::format("{}: {}\n", ids_[i], FirstLine(finished_[i].step.result.text));
  }
  return lines;
}

// Of the last step they stand in its own result.
void PipelineRun::Warnings(ToolResult& result) const {
  for (std::size_t i = 0; i < done(); ++i) {
    const ToolResult& one = finished_[i].step.result;
    for (const std::string& warning : one.warnings) {
      result.warnings.push_back(fmt::format("step '{}': {}", ids_[i], warning));
    }
    AddDenials(result, one);
  }
}

ToolResult PipelineRun::Succeeded() {
  const FinishedStep& last = finished_.back().step;
  ToolResult result = last.result;
  if (result.data_of == nullptr) result.data_of = last.tool;
  result.warnings.clear();
  result.denials.clear();
  result.allow_with.clear();
  Warnings(result);
  result.decision.clear();
  result.audit_id.clear();
  result.text = Headline("success") + "\n" + LinesOfSteps() + result.text;
  return result;
}

ToolResult PipelineRun::Returned() {
  ValueRoom room;
  const auto filled =
      FillTemplates(*pipeline_.returns, ids_, ids_,
                    [&](const StepReference& reference) { return ValueFor(reference, &room); });
  if (!filled) {
    ToolResult result = Failed();
    ToolError error = NotPrepared(
        {"return." + filled.error().argument, filled.error().message, filled.error().path});
    error.ai_message =
        "All steps have run: their results are in step_results. Do not run them again.";
    result.text = fmt::format("{}: {}\n{}", CodeText(error.code), error.message, result.text);
    result.error = std::move(error);
    return result;
  }
  ToolResult result;
  result.data = filled->Dump();
  Warnings(result);
  const FitLimits limits{.all = static_cast<std::size_t>(call_.policy->limits.output_inline),
                         .text = static_cast<std::size_t>(call_.policy->limits.output_inline)};
  result.text = Headline("success") + "\n" + LinesOfSteps() + FitData(*filled, limits, "").json;
  return result;
}

// Complete, so that whoever recovers from the failure knows what has been done.
ToolResult PipelineRun::Failed() {
  JsonWriter data;
  const auto failed = std::ranges::count_if(
      finished_, [](const Finished& one) { return one.step.result.error.has_value(); });
  const std::size_t completed = done() - static_cast<std::size_t>(failed);
  data.BeginObject().Field("completed", std::uint64_t{completed});
  data.Field("total", std::uint64_t{pipeline_.steps.size()}).Key("step_results").BeginObject();
  for (std::size_t i = 0; i < done(); ++i) {
    const auto& [step, took, data_of_step] = finished_[i];
    data.Key(ids_[i]).BeginObject().Field("success", !step.result.error.has_value());
    data.Field("duration_ms", std::int64_t{took.count()});
    data.Key("result").BeginObject();
    WriteOutcome(data, step.result, took);
    data.EndObject().EndObject();
  }
  data.EndObject().EndObject();
  ToolResult result;
  result.data = std::move(data).Take();
  Warnings(result);
  for (const Finished& one : finished_) {
    for (const ResourceLink& link : one.step.result.links) result.links.push_back(link);
  }
  const ToolResult& last = finished_.back().step.result;
  if (last.error) {
    result.error = OfStep(*last.error, ids_[done() - 1]);
    result.ending = last.ending;
  }
  result.text =
      Headline(result.error ? fmt::format("step '{}' failed", ids_[done() - 1]) : "failed");
  const auto room = static_cast<std::size_t>(call_.policy->limits.output_inline);
  const std::size_t each = std::clamp(room / done(), kFewestShown, kMostShown);
  for (std::size_t i = 0; i < done(); ++i) {
    result.text +=
        fmt::format("\n--- {} ---\n{}", ids_[i], CutText(finished_[i].step.result.text, each, ""));
    while (result.text.ends_with('\n')) result.text.pop_back();
  }
  result.text += '\n';
  return result;
}

}  // namespace

Task<ToolResult> RunPipeline(Pipeline pipeline, CallContext& call) {
  PipelineRun run(std::move(pipeline), call);
  Task<ToolResult> task = run.Run();
  ToolResult result = co_await task;
  co_return result;
}

}  // namespace pa
