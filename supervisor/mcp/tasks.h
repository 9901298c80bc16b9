// Tasks: the JSON of the extension `io.modelcontextprotocol/tasks` of MCP 2026-07-28
// (https://github.com/modelcontextprotocol/ext-tasks, specification/2026-07-28/tasks.md). A task is
// a job; its taskId is the job's id.
//
//    if (!TakesTasks(ClaimedCapabilities(request.params))) return NeedsTasks();
//    return TaskResult({.job = *job}, identity);
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "supervisor/jobs/jobs.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/transport/rpc.h"

namespace pa {

class JsonWriter;

// Whether a client with these capabilities takes a task in place of a result; null: no.
bool TakesTasks(const JsonValue* capabilities);

// -32021, for a request about tasks of a client that does not take them.
rpc::Failure NeedsTasks();

struct TaskState {
  const Job& job;
  const InputRequired* question = nullptr;  // it waits for the answer; null: it waits for none
  std::string waits = {};                   // what else it waits for, as WaitingText
};

// The reply to tools/call in place of its result: `{"resultType":"task","taskId",...}`.
std::string CreateTaskResult(const TaskState& task, const Identity& identity);
// The reply to tasks/get: with the result of the call once it has ended, and with the question if
// it waits for an answer.
std::string TaskResult(const TaskState& task, const Identity& identity);
// The members of the same, for the params of notifications/tasks.
void WriteTask(JsonWriter& writer, const TaskState& task, const Identity& identity);
// The empty reply to tasks/cancel and tasks/update.
std::string TaskAcknowledgement(const Identity& identity);

}  // namespace pa
