#include "supervisor/tools/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/json_writer.h"
#include "base/try.h"
#include "supervisor/call/tool_request.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/jobs/jobs.h"
#include "supervisor/loop/background.h"
#include "supervisor/results/query_rows.h"
#include "supervisor/text/escape_filter.h"
#include "supervisor/tools/join_job.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/render.h"
#include "supervisor/tools/work.h"

namespace pa {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kActions[] = {"list", "read", "wait", "stop"};
constexpr std::int64_t kMostLines = 2000;
constexpr std::int64_t kLongestWait = 50'000;  // ms: clients give up on a call after a minute

constexpr Param kJobParams[] = {
    {.name = "action", .required = true, .one_of = kActions},
    {.name = "id", .description = "Of all but list."},
    {.name = "offset",
     .kind = ParamKind::kInteger,
     .description = "read: the first line, from 1; -20: the last 20. next_offset goes on.",
     .minimum = -1'000'000,
     .default_integer = -200},
    {.name = "limit",
     .kind = ParamKind::kInteger,
     .minimum = 1,
     .maximum = kMostLines,
     .default_integer = 200},
    {.name = "grep", .description = "read: only lines with this text.", .maximum = kMaxPattern},
    {.name = "timeout_ms",
     .kind = ParamKind::kInteger,
     .description = "wait: default 50000. read: how long to wait for lines; default 0.",
     .minimum = 0,
     .maximum = kLongestWait},
    kResultParam,
};

constexpr ResultField kJobData[] = {
    {.name = "jobs", .kind = FieldKind::kObjectArray},
    {.name = "job", .kind = FieldKind::kObject},
    {.name = "lines"},
    {.name = "first_line", .kind = FieldKind::kInteger},
    {.name = "next_offset", .kind = FieldKind::kInteger},
    {.name = "total_lines", .kind = FieldKind::kInteger},
};
constexpr std::string_view kJobItems[] = {"lines", "jobs"};

std::string Told(const Job& job) {
  std::string text = fmt::format("job {}: {}: {}", job.id, job.command, job.State());
  if (job.result && job.result->ending && job.result->ending->outcome == Outcome::kExited) {
    text += fmt::format(", exit code {}", job.result->ending->exit_code);
  }
  return text + "\n";
}

ToolResult JobResult(const Job& job) {
  ToolResult result;
  result.data = DataOfJob(job);
  result.text = Told(job);
  return result;
}

ToolResult List(Jobs& jobs) {
  JsonWriter writer;
  writer.BeginObject().Key("jobs").BeginArray();
  ToolResult result;
  for (const std::shared_ptr<Job>& job : jobs.all()) {
    job->Write(writer);
    result.text += Told(*job);
  }
  writer.EndArray().EndObject();
  if (result.text.empty()) result.text = "there are no jobs\n";
  result.data = std::move(writer).Take();
  return result;
}

// ---- read ----

struct Window {
  std::uint64_t first = 1;  // line
  std::uint64_t count = 0;
  bool from_end = false;
};

Window WindowOf(const Arguments& arguments, std::uint64_t total) {
  const std::int64_t offset = *arguments.Integer("offset");
  const auto count = static_cast<std::uint64_t>(*arguments.Integer("limit"));
  if (offset > 0) return {static_cast<std::uint64_t>(offset), count};
  const auto back = std::min(static_cast<std::uint64_t>(-offset), count);
  return {total - std::min(total, back) + 1, back, true};
}

struct LogPart {
  std::string bytes;
  std::uint64_t first = 1;  // line
  std::uint64_t next = 1;   // the line after them
  bool cut = false;         // a line is longer than a result
};

// Whole lines of the log, as far as they fit into a result; from the end, the last of them.
Result<LogPart> ReadPart(const StoredOutput& log, Window window, std::size_t room) {
  for (;;) {
    LogPart part{.bytes = {}, .first = window.first, .next = window.first};
    if (window.first > log.lines()) return part;
    const std::string query =
        fmt::format("?lines={}-{}", window.first, window.first + window.count - 1);
    PA_TRY(ResultChunk chunk, ResultStore::Read(log, query, ""));
    const bool all = chunk.bytes.size() <= room && !chunk.next_uri;
    if (!all && window.from_end && window.count > 1) {
      window.count = (window.count + 1) / 2;
      window.first = log.lines() - window.count + 1;
      continue;
    }
    part.bytes = std::move(chunk.bytes);
    if (part.bytes.size() > room) {
      const std::size_t end = part.bytes.rfind('\n', room);
      part.cut = end == std::string::npos;
      part.bytes.resize(part.cut ? room : end + 1);
    }
    part.next += static_cast<std::uint64_t>(std::ranges::count(part.bytes, '\n'));
    if (part.cut) ++part.next;
    return part;
  }
}

Task<ToolResult> Grep(const Job& job, const std::string& text, const Arguments& arguments,
                      CallContext& call) {
  Result<StoredBytes> stored = ResultStore::Open(*job.log());
  if (!stored) co_return RefusedCall(InternalError(stored.error().Message()));
  const auto bytes = std::make_shared<RowSource>();
  bytes->stored = *std::move(stored);
  const auto order = std::make_shared<ResultOrder>();
  order->filter = Filter({}, Filter::Operator::kContains, {.text = text, .number = {}});
  order->limit = static_cast<std::uint64_t>(*arguments.Integer("limit"));
  const auto room = static_cast<std::size_t>(call.policy->limits.output_inline);
  Task<QueriedRows> task = InBackground<QueriedRows>(call.runner.loop(), [bytes, order, room] {
    return QueryLines(*bytes, *order, {.shown_bytes = room}, {});
  });
  const QueriedRows rows = co_await task;
  if (!rows.problem.empty()) co_return RefusedCall(InternalError(rows.problem));
  ToolResult result;
  JsonWriter writer;
  writer.BeginObject().Key("job");
  job.Write(writer);
  writer.Field("lines", rows.rows.shown).Field("total_lines", rows.counts.total).EndObject();
  result.data = std::move(writer).Take();
  result.truncated = rows.rows.shown_rows < rows.counts.matched;
  result.text = Told(job) +
                fmt::format("{} of {} lines have it\n", rows.counts.matched, rows.counts.total) +
                rows.rows.text;
  co_return result;
}

ToolResult Part(const Job& job, const Arguments& arguments, const CallContext& call) {
  const StoredOutput& log = *job.log();
  auto part = ReadPart(log, WindowOf(arguments, log.lines()),
                       static_cast<std::size_t>(call.policy->limits.output_inline));
  if (!part) return RefusedCall(InternalError(part.error().Message()));
  // A last line that has no end yet is shown, and once more when it has one.
  const bool open = !part->cut && !part->bytes.empty() && !part->bytes.ends_with('\n');
  if (open && job.ended) ++part->next;
  const std::string text = WithoutEscapes(part->bytes);
  JsonWriter writer;
  writer.BeginObject().Key("job");
  job.Write(writer);
  writer.Field("lines", text).Field("first_line", part->first);
  writer.Field("next_offset", part->next).Field("total_lines", log.lines()).EndObject();
  ToolResult result;
  result.data = std::move(writer).Take();
  result.text = Told(job) +
                fmt::format("from line {} of {}, the next offset is {}\n", part->first, log.lines(),
                            part->next) +
                text;
  result.truncated = part->cut || part->next <= log.ended_lines();
  if (log.lost() > 0) {
    Warn(result, NotKept(log.lost(), "a quarter of limits.output_total", log.why_lost()));
  }
  return result;
}

Task<ToolResult> Read(std::shared_ptr<Job> job, const ToolRequest& request, CallContext& call) {
  const Arguments& arguments = request.arguments();
  if (job->log() == nullptr) {
    ToolResult result = JobResult(*job);
    Warn(result, "its output could not be kept");
    co_return result;
  }
  if (const std::string* text = arguments.String("grep")) {
    Task<ToolResult> task = Grep(*job, *text, arguments, call);
    ToolResult result = co_await task;
    co_return result;
  }
  const auto deadline =
      std::chrono::steady_clock::now() + milliseconds(arguments.Integer("timeout_ms").value_or(0));
  for (;;) {
    const Window window = WindowOf(arguments, job->log()->lines());
    const bool more = window.from_end || window.first <= job->log()->ended_lines();
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (more || job->ended || left <= milliseconds(0) || call.cancel.cancelled()) break;
    Task<bool> change = job->Change(call.runner.loop(), left, call.cancel);
    [[maybe_unused]] const bool changed = co_await change;
  }
  co_return Part(*job, arguments, call);
}

// ---- wait, stop ----

Task<bool> UntilEnd(std::shared_ptr<Job> job, milliseconds patience, CallContext& call) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!job->ended && !call.cancel.cancelled()) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left <= milliseconds(0)) break;
    Task<bool> change = job->Change(call.runner.loop(), left, call.cancel);
    [[maybe_unused]] const bool changed = co_await change;
  }
  co_return job->ended.has_value();
}

// Once it has ended exactly what the call would have returned, and the job.
ToolResult Ended(const Job& job) {
  if (!job.result) {
    ToolResult result = RefusedCall(OutOfMemory());
    result.data = DataOfJob(job);
    return result;
  }
  ToolResult result = *job.result;
  if (result.data.empty() || result.data == "{}") {
    result.data = DataOfJob(job);
  } else {
    AddData(result, DataOfJob(job));
  }
  result.text = Told(job) + result.text;
  result.audit_id.clear();
  result.decision.clear();
  return result;
}

Task<ToolResult> WaitFor(std::shared_ptr<Job> job, const ToolRequest& request, CallContext& call) {
  const milliseconds patience(request.arguments().Integer("timeout_ms").value_or(kLongestWait));
  Task<bool> waiting = UntilEnd(job, patience, call);
  const bool ended = co_await waiting;
  if (call.cancel.cancelled()) co_return RefusedCall(Cancelled("the wait"));
  co_return ended ? Ended(*job) : JobResult(*job);
}

Task<ToolResult> Stop(std::shared_ptr<Job> job, CallContext& call) {
  job->Stop();
  Task<bool> waiting = UntilEnd(job, milliseconds(kLongestWait), call);
  [[maybe_unused]] const bool ended = co_await waiting;
  co_return JobResult(*job);
}

Task<ToolResult> RunJob(ToolRequest request, CallContext& call) {
  const Arguments& arguments = request.arguments();
  const std::string& action = *arguments.String("action");
  auto work = StartWork(request, action, call);
  if (!work) co_return RefusedCall(std::move(work.error()));
  const auto permission = Permit(*work, call, policy::Purpose::kInspect);
  if (!permission) co_return RefusedCall(permission.error());
  if (action == "list") co_return List(*call.jobs);
  const std::string* id = arguments.String("id");
  if (id == nullptr) {
    co_return RefusedCall(
        InvalidArgument("argument 'id' is required: the id of a job",
                        "The call that began the job returned it; action list lists all jobs."));
  }
  std::shared_ptr<Job> job = call.jobs->Find(*id);
  if (job == nullptr) {
    co_return RefusedCall(NoSuchJob());
  }
  Task<ToolResult> task = action == "read"   ? Read(std::move(job), request, call)
                          : action == "wait" ? WaitFor(std::move(job), request, call)
                                             : Stop(std::move(job), call);
  ToolResult result = co_await task;
  co_return result;
}

}  // namespace

const Tool kJob = {
    .name = "job",
    .title = "Jobs",
    .description = "List, read, await and stop calls that were started with background.",
    .annotations = {},
    .params = kJobParams,
    .data = kJobData,
    .items = kJobItems,
    .run = RunJob,
    .purpose = std::nullopt,
    .has_output_schema = false};

}  // namespace pa
