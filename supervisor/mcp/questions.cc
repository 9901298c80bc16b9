#include "supervisor/mcp/questions.h"

#include <utility>

#include "base/finally.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/tool_result.h"

namespace pa {
namespace {

constexpr const char* kApprove = "approve";
constexpr std::size_t kStateBytes = 16;  // random: nobody guesses which call waits

}  // namespace

bool CanElicit(const JsonValue* capabilities, Revision revision) {
  if (revision < Revision::k2025_06_18 || capabilities == nullptr) return false;
  const JsonValue* elicitation = capabilities->Find("elicitation");
  if (elicitation == nullptr || !elicitation->IsObject()) return false;
  // An empty one means forms; since 2025-11-25 a client can say that it has only URLs.
  return elicitation->Find("form") != nullptr || elicitation->Find("url") == nullptr;
}

Answer AnswerIn(const JsonValue& result) {
  const JsonValue* action = result.Find("action");
  if (action == nullptr || !action->IsString()) return Answer::kCancel;
  if (action->AsString() == "decline") return Answer::kDecline;
  const JsonValue* content = action->AsString() == "accept" ? result.Find("content") : nullptr;
  const JsonValue* approve = content == nullptr ? nullptr : content->Find(kApproveField);
  if (approve == nullptr || approve->kind() != JsonValue::Kind::kBool) return Answer::kCancel;
  return approve->AsBool() ? Answer::kAccept : Answer::kDecline;
}

Task<Answer> Elicitations::Ask(std::string params, CancelSource& cancel, const Out& out) {
  const rpc::Id id("\"approval-" + std::to_string(next_++) + "\"");
  Pending pending{.timer = TimerHandle(loop_), .out = out, .answer = {}};
  pending_.emplace(id, &pending);
  out().Send(rpc::RequestLine(id, "elicitation/create", params));
  pending.timer.Start(patience_, [&] { GiveUp(id, Answer::kTimeout, "no answer in time"); });
  cancel.OnCancel([&] { GiveUp(id, Answer::kCancel, "the call was cancelled"); });
  Completion<Answer>& settled = pending.answer;
  const Answer answer = co_await settled;
  cancel.Forget();
  co_return answer;
}

void Elicitations::OnResponse(const rpc::Response& response) {
  if (!response.id) return;
  Settle(*response.id, response.result ? AnswerIn(*response.result) : Answer::kUnavailable);
}

// Last of all the coroutine goes on; with it goes what waits, and maybe `id`.
void Elicitations::Settle(const rpc::Id& id, Answer answer) {
  const auto node = pending_.extract(id);
  if (!node.empty()) node.mapped()->answer.Set(answer);
}

void Elicitations::GiveUp(const rpc::Id& id, Answer answer, const char* reason) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;
  JsonWriter params;
  params.BeginObject().Key("requestId").Raw(id.token()).Field("reason", reason).EndObject();
  found->second->out().Send(
      rpc::NotificationLine("notifications/cancelled", std::move(params).Take()));
  Settle(id, answer);
}

Task<Answer> ElicitingApprover::Ask(std::vector<Question> questions, CallContext& call) {
  std::string params = ElicitParams(QuestionText(questions, call.shown), revision_);
  Task<Answer> task = elicitations_.Ask(std::move(params), call.cancel, out_);
  const Answer answer = co_await task;
  co_return answer;
}

Task<Answer> ParkingApprover::Ask(std::vector<Question> questions, CallContext& call) {
  if (call.cancel.cancelled()) co_return Answer::kCancel;
  // No key may come twice in a task. It is plain in the first question, the only one of most calls.
  const std::string number = ++asked_ == 1 ? "" : "-" + std::to_string(asked_);
  question_ = {.key = kApprove + number,
               .params = ElicitParams(QuestionText(questions, call.shown), kModernRevision),
               .state = RandomHex(kStateBytes)};
  Completion<Answer> said;
  waiting_ = &said;
  TimerHandle timer(loop_);
  const Finally gone([&] {
    waiting_ = nullptr;
    call.cancel.Forget();
  });
  timer.Start(patience_, [this] { Settle(Answer::kTimeout); });
  call.cancel.OnCancel([this] { Settle(Answer::kCancel); });
  // Last: when the question is out, nothing can fail that would lose the call.
  if (!park_(question_)) co_return Answer::kTooMany;
  const Answer answer = co_await said;
  co_return answer;
}

void ParkingApprover::Settle(Answer answer) {
  if (waiting_ != nullptr) std::exchange(waiting_, nullptr)->Set(answer);
}

const JsonValue* ResponseIn(const JsonValue& params, const InputRequest& question) {
  const JsonValue* responses = params.FindSet("inputResponses");
  return responses != nullptr ? responses->FindSet(question.key) : nullptr;
}

rpc::Failure NeedsElicitation(const ToolError& error) {
  JsonWriter data;
  data.BeginObject().Key("requiredCapabilities").BeginObject();
  data.Key("elicitation").BeginObject().EndObject().EndObject();
  data.Key("error");
  WriteError(data, error);
  data.EndObject();
  return {.code = rpc::kMissingCapability,
          .message = "Missing required client capability: elicitation; " + error.message + ". " +
                     error.ai_message,
          .data = std::move(data).Take(),
          .id = {}};
}

}  // namespace pa
