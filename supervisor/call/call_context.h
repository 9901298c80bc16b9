// CallContext: what a tool may use while its call runs. NewContext (supervisor/engine/dispatch.h)
// makes one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "supervisor/call/approval.h"
#include "supervisor/call/call_log.h"
#include "supervisor/call/call_record.h"
#include "supervisor/loop/cancel_source.h"
#include "supervisor/loop/task.h"
#include "supervisor/run/runner.h"

namespace pa {

class CallStarter;   // supervisor/call/call_starter.h
class ClientInputs;  // supervisor/call/client_input.h
class Jobs;          // supervisor/jobs/jobs.h
struct ToolResult;   // supervisor/call/tool_result.h
class ResultFiles;   // supervisor/results/result_files.h
class ResultStore;   // supervisor/results/result_store.h
class TargetCache;   // supervisor/tools/target_cache.h

// What bash executes in place of its argument `command`, which says the same for people and for the
// policy: values are arguments of the program, never part of it.
struct ShellProgram {
  std::string program;
  std::vector<std::string> values;  // $1, $2, ...
};

// The request of a client that a call answers.
class CallRequest {
 public:
  virtual ~CallRequest() = default;
  // Answers it with `handle` now; the call goes on, and its result goes to nobody.
  virtual void AnswerEarly(const ToolResult& handle) = 0;
};

// Owned by the caller: a session, the command line, the engine. Outlives the call.
struct CallContext {
  policy::PolicyPtr policy;  // the one in force when the call began
  Runner& runner;
  TargetCache& targets;
  ResultStore& results;
  const ResultFiles& result_files;
  const std::map<std::string, std::string>& ambient;  // the server's own environment
  OutputSink* sink = nullptr;                         // live output; may be null
  CancelSource& cancel;
  CallRecord record = {};  // what the steps of the call decide and run
  Approvals approvals = {};
  Approver* approver = nullptr;    // null: nobody can be asked
  ClientInputs* client = nullptr;  // for tools that ask their client (Tool::asks_client); else null
  CallLog log = {};                // null: the client wants to hear nothing
  ShownCall shown = {};            // `arguments` is set only if a rule may ask
  Jobs* jobs = nullptr;
  CallRequest* request = nullptr;  // null: nobody waits for an answer, or it cannot come early
  // Of a call in the background: tells that it is allowed and begins; `what` is for people.
  std::function<void(const std::string& what)> begins = {};
  bool inner = false;                   // another call makes it, and works with its data
  CallStarter* starter = nullptr;       // for tools that call other tools; else null
  const ShellProgram* shell = nullptr;  // null: bash executes its command
};

}  // namespace pa
