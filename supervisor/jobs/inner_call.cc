#include "supervisor/jobs/inner_call.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pa {

using Clock = std::chrono::steady_clock;

InnerCall::InnerCall(CallContext& outer, std::string part_of)
    : outer_(outer), output_(outer), context_(outer.starter->NewContext(cancel_)) {
  if (outer.sink != nullptr) context_.sink = &output_;
  context_.approver = outer.approver;
  context_.inner = true;
  context_.record.run.queue.patient = true;
  context_.shown.part_of = std::move(part_of);
}

void InnerCall::SetShell(ShellProgram shell) {
  shell_ = std::move(shell);
  context_.shell = &*shell_;
}

Task<ToolResult> InnerCall::Run(std::string tool, JsonValue arguments) {
  const auto began = Clock::now();
  Task<ToolResult> task = outer_.starter->Start(std::move(tool), std::move(arguments), context_);
  ToolResult result = co_await task;
  took_ = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
  co_return result;
}

std::chrono::milliseconds InnerCall::waited() const {
  std::chrono::milliseconds waited{0};
  for (const ApprovalRecord& approval : context_.record.approvals) waited += approval.waited;
  return waited;
}

void AddDenials(ToolResult& outer, const ToolResult& inner) {
  std::ranges::copy(inner.denials, std::back_inserter(outer.denials));
  for (const std::string& line : inner.allow_with) {
    const bool known = std::ranges::find(outer.allow_with, line) != outer.allow_with.end();
    if (!known) outer.allow_with.push_back(line);
  }
}

}  // namespace pa
