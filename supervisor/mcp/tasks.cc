#include "supervisor/mcp/tasks.h"

#include <chrono>

#include "base/json_writer.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/mcp/tool_output.h"

namespace pa {
namespace {

using std::chrono::milliseconds;

// Short tasks are polled often, because their clients wait; long ones are polled seldom.
constexpr milliseconds kPollSoon{1000};
constexpr milliseconds kPollLater{5000};
constexpr std::chrono::minutes kSoon{1};

enum class Status { kWorking, kInputRequired, kCompleted, kFailed, kCancelled };

const char* StatusName(Status status) {
  switch (status) {
    case Status::kWorking:
      return "working";
    case Status::kInputRequired:
      return "input_required";
    case Status::kCompleted:
      return "completed";
    case Status::kFailed:
      return "failed";
    case Status::kCancelled:
      break;
  }
  return "cancelled";
}

// A call that fails completes its task, with isError; only what would be an error of JSON-RPC
// fails it.
Status StatusOf(const TaskState& task) {
  if (!task.job.ended) return task.question ? Status::kInputRequired : Status::kWorking;
  if (!task.job.result) return Status::kFailed;
  const std::optional<ToolError>& error = task.job.result->error;
  const bool cancelled = error && error->code == ErrorCode::kCancelled;
  return cancelled ? Status::kCancelled : Status::kCompleted;
}

std::string Message(const TaskState& task) {
  std::string text = task.job.command;
  if (task.job.ended) return text + ": " + task.job.State();
  if (!task.waits.empty()) text += ": " + task.waits;
  return text;
}

std::int64_t Milliseconds(std::chrono::seconds seconds) { return milliseconds(seconds).count(); }

void WriteState(JsonWriter& writer, const TaskState& task, Status status) {
  const Job& job = task.job;
  writer.Field("taskId", job.id).Field("status", StatusName(status));
  writer.Field("statusMessage", Message(task));
  writer.Field("createdAt", UtcText(job.started)).Field("lastUpdatedAt", UtcText(job.updated));
  writer.Field("ttlMs", Milliseconds(job.expires - job.started));
  const milliseconds poll = job.updated - job.started < kSoon ? kPollSoon : kPollLater;
  writer.Field("pollIntervalMs", static_cast<std::int64_t>(poll.count()));
}

}  // namespace

bool TakesTasks(const JsonValue* capabilities) {
  const JsonValue* extensions = capabilities ? capabilities->FindSet("extensions") : nullptr;
  const JsonValue* tasks = extensions ? extensions->FindSet(kTasksExtension) : nullptr;
  return tasks != nullptr && tasks->IsObject();
}

rpc::Failure NeedsTasks() {
  JsonWriter data;
  data.BeginObject().Key("requiredCapabilities").BeginObject().Key("extensions").BeginObject();
  data.Key(kTasksExtension).BeginObject().EndObject().EndObject().EndObject().EndObject();
  return {.code = rpc::kMissingCapability,
          .message = "Missing required client capability: the request must declare the extension " +
                     std::string(kTasksExtension),
          .data = std::move(data).Take(),
          .id = {}};
}

std::string CreateTaskResult(const TaskState& task, const Identity& identity) {
  JsonWriter writer;
  writer.BeginObject();
  WriteResultFrame(writer, kModernRevision, identity, "task");
  WriteState(writer, task, StatusOf(task));
  writer.EndObject();
  return std::move(writer).Take();
}

void WriteTask(JsonWriter& writer, const TaskState& task, const Identity& identity) {
  const Status status = StatusOf(task);
  WriteState(writer, task, status);
  if (status == Status::kCompleted) {
    writer.Key("result").Raw(
        CallToolResult(*task.job.result, task.job.took, kModernRevision, identity));
  } else if (status == Status::kFailed) {
    writer.Key("error").BeginObject().Field("code", rpc::kInternalError);
    writer.Field("message", "Internal error: the server had not enough memory for the result");
    writer.EndObject();
  } else if (status == Status::kInputRequired) {
    WriteInputRequests(writer, *task.question);
  }
}

std::string TaskResult(const TaskState& task, const Identity& identity) {
  JsonWriter writer;
  writer.BeginObject();
  WriteResultFrame(writer, kModernRevision, identity);
  WriteTask(writer, task, identity);
  writer.EndObject();
  return std::move(writer).Take();
}

std::string TaskAcknowledgement(const Identity& identity) {
  JsonWriter writer;
  writer.BeginObject();
  WriteResultFrame(writer, kModernRevision, identity);
  writer.EndObject();
  return std::move(writer).Take();
}

}  // namespace pa
