// AuditLog: records every call with a line when it begins and a line when it ends. A call whose
// first line cannot be written does not run.
//
//    AuditLog audit(loop);
//    AuditedCall call = NewCall(caller, name, read_only, arguments);
//    Task<ToolResult> task =
//        RunAudited(audit, std::move(call), RunApproved(std::move(request), context), context);
//
// The policy under which the call began says where the lines go. An appended line is in the page
// cache, where a crash of the machine can lose it; with audit.sync it is then synced to the disk,
// without blocking the loop.
#pragma once

#include <uv.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "policy/policy.h"
#include "supervisor/audit/audit_event.h"
#include "supervisor/audit/audit_socket.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/loop/task.h"

namespace pa {

// The user as whom this program runs; "" if the system has no name for it.
std::string UserName();

class AuditLog {
 public:
  explicit AuditLog(uv_loop_t* loop);
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // The name of the user. Looked up once, because a directory service may have to answer.
  const std::string& user() const { return user_; }
  // Writes a line. While another process appends to the file, or the daemon is busy, retries for a
  // short time without blocking the loop (then EWOULDBLOCK).
  Task<Result<void>> Keep(policy::AuditPolicy policy, LineMaker make_line);

 private:
  Result<void> Append(const policy::AuditPolicy& policy, const LineMaker& make_line);
  Result<void> SendToDaemon(const policy::AuditPolicy& policy, const LineMaker& make_line);
  Task<Result<void>> Sync();

  uv_loop_t* loop_;
  std::string user_;
  std::unique_ptr<AuditFile> file_;
  std::unique_ptr<AuditSocket> socket_;
};

AuditedCall NewCall(AuditCaller caller, std::string tool, bool read_only,
                    const JsonValue* arguments);

// Runs `work`, which must not have begun, between its two lines. If memory runs out, the call ends
// with an error. If the second line cannot be written, the result has a warning: the call has
// already run.
Task<ToolResult> RunAudited(AuditLog& audit, AuditedCall call, Task<ToolResult> work,
                            CallContext& context);

// Records a call that is refused before it becomes a ToolRequest: one line.
Task<ToolResult> RefuseAudited(AuditLog& audit, AuditedCall call, ToolError error,
                               policy::AuditPolicy policy, const Runner& runner);

}  // namespace pa
