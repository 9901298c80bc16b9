#include "supervisor/audit/audit_log.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "supervisor/call/tool_result.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/pause.h"
#include "supervisor/loop/within_memory.h"

namespace pa {
namespace {

// Whoever may read the file may hold its lock, and a daemon may read nothing: no call waits for
// that for long.
constexpr int kAttempts = 200;
constexpr std::chrono::milliseconds kPause{1};

bool IsBusy(const Result<void>& kept) { return !kept && kept.error().sys_errno == EWOULDBLOCK; }

std::chrono::microseconds Since(std::chrono::system_clock::time_point began) {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now() -
                                                               began);
}

// Where the log lies is no matter of the model's.
ToolError NotRecorded(const Error& error) {
  const std::string cause = Error(error.op, "the audit log", error.sys_errno).Message();
  if (auto shortage =
          Shortage("the call cannot be recorded, so it does not run: " + cause, error.sys_errno)) {
    LogError("audit log: " + error.Message());
    return *std::move(shortage);
  }
  return InternalError("audit log: " + error.Message(),
                       "the call cannot be recorded, so it does not run");
}

void WarnOfNoEnd(const Error& error, ToolResult& result) {
  LogError("audit log: " + error.Message());
  result.warnings.push_back(
      "the end of this call could not be recorded; "
      "calls are refused until the log can be written again");
}

}  // namespace

std::string UserName() {
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  const int status = getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return status == 0 && found != nullptr ? entry.pw_name : "";
}

AuditLog::AuditLog(uv_loop_t* loop) : loop_(loop), user_(UserName()) {}

Task<Result<void>> AuditLog::Keep(policy::AuditPolicy policy, LineMaker make_line) {
  if (!policy.IsKept()) co_return Result<void>();
  Result<void> kept = Append(policy, make_line);
  for (int again = 0; IsBusy(kept) && again < kAttempts; ++again) {
    Task<bool> pause = Pause(loop_, kPause);
    [[maybe_unused]] const bool over = co_await pause;
    kept = Append(policy, make_line);
  }
  if (!kept || policy.path.empty() || !policy.sync) co_return kept;
  Task<Result<void>> sync = Sync();
  kept = co_await sync;
  co_return kept;
}

Result<void> AuditLog::Append(const policy::AuditPolicy& policy, const LineMaker& make_line) {
  if (policy.path.empty()) return SendToDaemon(policy, make_line);
  if (!file_ || file_->path() != policy.path) file_ = std::make_unique<AuditFile>(policy.path);
  return file_->Append(make_line);
}

Result<void> AuditLog::SendToDaemon(const policy::AuditPolicy& policy, const LineMaker& make_line) {
  const bool same =
      socket_ && socket_->daemon() == policy.daemon && socket_->path() == policy.socket;
  if (!same) socket_ = std::make_unique<AuditSocket>(policy.daemon, policy.socket);
  return socket_->Append(make_line);
}

Task<Result<void>> AuditLog::Sync() {
  struct Order {
    uv_fs_t request{};
    Completion<int> done;
  };
  const auto order = std::make_unique<Order>();
  order->request.data = order.get();
  const std::string path = file_->path();
  const std::shared_ptr<const UniqueFd> fd = file_->Descriptor();
  uv_fs_fdatasync(loop_, &order->request, fd->get(), [](uv_fs_t* request) {
    static_cast<Order*>(request->data)->done.Set(static_cast<int>(request->result));
  });
  Completion<int>& done = order->done;
  const int status = co_await done;
  uv_fs_req_cleanup(&order->request);
  if (status < 0) co_return std::unexpected(Error("fdatasync", path, -status));
  co_return Result<void>();
}

AuditedCall NewCall(AuditCaller caller, std::string tool, bool read_only,
                    const JsonValue* arguments) {
  return {.id = NewAuditId(),
          .user = "",
          .caller = std::move(caller),
          .tool = std::move(tool),
          .read_only = read_only,
          .arguments = AuditArguments(arguments),
          .began = std::chrono::system_clock::now()};
}

namespace {

ToolResult EndedForWantOfMemory() { return RefusedCall(OutOfMemory()); }

Result<void> NotKept() { return std::unexpected(Error("append to", "the audit log", ENOMEM)); }

Task<ToolResult> Run(AuditLog& audit, AuditedCall call, Task<ToolResult> work,
                     CallContext& context) {
  call.user = audit.user();
  const policy::AuditPolicy& policy = context.policy->audit;
  Task<Result<void>> begin = WithinMemory(
      audit.Keep(policy, [&](const ChainLink& link) { return BeginLine(call, link); }), NotKept);
  const Result<void> begun = co_await begin;
  if (!begun) co_return RefusedCall(NotRecorded(begun.error()));
  Task<ToolResult> task = WithinMemory(std::move(work), EndedForWantOfMemory);
  ToolResult result = co_await task;
  const sandbox::KernelFeatures kernel = context.runner.Kernel();
  const auto make_line = [&](const ChainLink& link) {
    return EndLine(call, context.record, result, Since(call.began), kernel, link);
  };
  Task<Result<void>> end = WithinMemory(audit.Keep(policy, make_line), NotKept);
  const Result<void> ended = co_await end;
  if (!ended) WarnOfNoEnd(ended.error(), result);
  if (policy.IsKept()) result.audit_id = call.id;
  co_return result;
}

Task<ToolResult> Refuse(AuditLog& audit, AuditedCall call, ToolError error,
                        policy::AuditPolicy policy, const Runner& runner) {
  call.user = audit.user();
  ToolResult result = RefusedCall(std::move(error));
  const sandbox::KernelFeatures kernel = runner.Kernel();
  Task<Result<void>> end = audit.Keep(policy, [&](const ChainLink& link) {
    return EndLine(call, {}, result, Since(call.began), kernel, link);
  });
  const Result<void> ended = co_await end;
  if (!ended) LogError("audit log: " + ended.error().Message());
  if (ended && policy.IsKept()) result.audit_id = call.id;
  co_return result;
}

}  // namespace

// Who has detached them has nobody to hand an exception to.
Task<ToolResult> RunAudited(AuditLog& audit, AuditedCall call, Task<ToolResult> work,
                            CallContext& context) {
  return WithinMemory(Run(audit, std::move(call), std::move(work), context), EndedForWantOfMemory);
}

Task<ToolResult> RefuseAudited(AuditLog& audit, AuditedCall call, ToolError error,
                               policy::AuditPolicy policy, const Runner& runner) {
  return WithinMemory(Refuse(audit, std::move(call), std::move(error), std::move(policy), runner),
                      EndedForWantOfMemory);
}

}  // namespace pa
