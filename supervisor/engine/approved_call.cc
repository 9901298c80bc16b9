#include "supervisor/engine/approved_call.h"

#include <utility>

#include "supervisor/call/tool_result.h"
#include "supervisor/loop/turn.h"

namespace pa {
namespace {

using Clock = std::chrono::steady_clock;

// A tool that asks about one thing after the other; none of ours asks for as many.
constexpr std::size_t kMaxRounds = 20;

Task<Answer> AskUser(CallContext& call) {
  const std::vector<Question>& questions = call.approvals.wanted();
  const auto asked = Clock::now();
  Answer answer = Answer::kUnavailable;
  if (call.approver != nullptr && call.record.approvals.size() < kMaxRounds) {
    call.record.asks_user = true;
    Task<Answer> task = call.approver->Ask(questions, call);
    answer = co_await task;
    call.record.asks_user = false;
  }
  call.record.approvals.push_back(
      {.answer = AnswerName(answer),
       .rule = questions.front().rule,
       .waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - asked)});
  co_return answer;
}

bool WantsApproval(const ToolResult& result, const CallContext& call) {
  return result.error && result.error->code == ErrorCode::kApprovalDeclined &&
         !call.approvals.wanted().empty();
}

// Before it begins nothing of it is open, so where there are few descriptors it waits here; not
// while the user is asked, who may take any time.
Task<ToolResult> RunTool(ToolRequest request, CallContext& call) {
  const Tool& tool = request.tool();
  if (!tool.purpose) {
    // Inner calls wait to begin. If their outer call waited, too, they could wait for each other;
    // an inner one takes no place among the outer ones for the same reason.
    Turn caller(call.runner.beginnings().Callers(), nullptr, nullptr);
    const bool counts = tool.level > 0 && !call.inner;
    if (counts && !caller.Enter("", kPlacesOfCallers)) co_return RefusedCall(Busy());
    Task<ToolResult> task = tool.run(std::move(request), call);
    ToolResult result = co_await task;
    co_return result;
  }
  Turn turn(call.runner.beginnings().For(*tool.purpose), &call.cancel, &call.record.run.queue);
  if (!turn.Enter("", PlacesToBegin(*tool.purpose, call.policy->limits))) {
    co_return RefusedCall(Busy());
  }
  Completion<bool>& my_turn = turn.granted();
  const bool granted = co_await my_turn;
  if (!granted) co_return RefusedCall(Cancelled(tool.name));
  Task<ToolResult> task = tool.run(std::move(request), call);
  ToolResult result = co_await task;
  co_return result;
}

}  // namespace

Task<ToolResult> RunApproved(ToolRequest request, CallContext& call) {
  if (!call.policy->EverAsks()) {  // no copy of what may be a large file
    Task<ToolResult> once = RunTool(std::move(request), call);
    ToolResult result = co_await once;
    co_return result;
  }
  for (;;) {
    Task<ToolResult> task = RunTool(request, call);
    ToolResult result = co_await task;
    if (!WantsApproval(result, call)) co_return result;
    Task<Answer> asking = AskUser(call);
    const Answer answer = co_await asking;
    if (call.cancel.cancelled()) co_return RefusedCall(Cancelled(request.tool().name));
    if (answer != Answer::kAccept) {
      ToolResult refused = RefusedCall(NotApproved(answer, call.approvals.wanted()));
      if (call.approver == nullptr) refused.needs_input = InputKind::kElicitation;
      co_return refused;
    }
    for (const Question& question : call.approvals.wanted()) {
      call.approvals.Grant(DigestOf(question));
    }
    call.approvals.Forget();
  }
}

}  // namespace pa
