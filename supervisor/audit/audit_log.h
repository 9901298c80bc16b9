// AuditLog: a record of every call, from its begin to its end; without the first half no call runs.
//
//   AuditLog audit(loop);
//   AuditedCall call = NewCall(caller, *tool, arguments);
//   Task<ToolResult> task =
//       RunAudited(audit, std::move(call), RunApproved(std::move(request), context), context);
//
// Where and how follows the policy under which the call began. A line is on its way to the disk
// when it is appended, and on it with audit.sync, for which the loop does not wait.
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

class AuditLog {
 public:
  explicit AuditLog(uv_loop_t* loop);
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // Asked once: the answer may come from a directory service.
  const std::string& user() const { return user_; }
  // Waits, while others go on, for who appends to the file or for a daemon that is busy, for a
  // short while (EWOULDBLOCK).
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

// `work`, which has not begun, between its two lines; without memory for it the call ends there,
// with an error. If the second line cannot be written, the result says so in a warning: the call
// has run.
Task<ToolResult> RunAudited(AuditLog& audit, AuditedCall call, Task<ToolResult> work,
                            CallContext& context);

// A call that is refused before there is a request: one line.
Task<ToolResult> RefuseAudited(AuditLog& audit, AuditedCall call, ToolError error,
                               policy::AuditPolicy policy, const Runner& runner);

}  // namespace pa
