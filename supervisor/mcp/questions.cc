#include "supervisor/mcp/questions.h"

#include <algorithm>
#include <utility>

#include "base/json_writer.h"
#include "supervisor/call/call_context.h"

namespace pa {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kApprove = "approve";  // the one input that we request

rpc::Failure BadState(std::string_view why) {
  return {.code = rpc::kInvalidParams,
          .message = "Invalid params: params.requestState " + std::string(why) +
                     "; send the request without it to be asked anew",
          .data = {},
          .id = {}};
}

std::string_view WhyNot(StateProblem problem) {
  switch (problem) {
    case StateProblem::kNotThis:
      return "belongs to a call with another tool or other arguments";
    case StateProblem::kUsed:
      return "was used before";
    default:
      return "was not issued by this server";
  }
}

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

Task<Answer> Elicitations::Ask(std::string params, CancelSource& cancel) {
  const rpc::Id id("\"approval-" + std::to_string(next_++) + "\"");
  Pending pending{.timer = TimerHandle(loop_), .answer = {}};
  pending_.emplace(id, &pending);
  transport_.Send(rpc::RequestLine(id, "elicitation/create", params));
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
  if (!pending_.contains(id)) return;
  JsonWriter params;
  params.BeginObject().Key("requestId").Raw(id.token()).Field("reason", reason).EndObject();
  transport_.Send(rpc::NotificationLine("notifications/cancelled", std::move(params).Take()));
  Settle(id, answer);
}

Task<Answer> ElicitingApprover::Ask(std::vector<Question> questions, CallContext& call) {
  std::string params = ElicitParams(QuestionText(questions, arguments_), revision_);
  Task<Answer> task = elicitations_.Ask(std::move(params), call.cancel);
  const Answer answer = co_await task;
  co_return answer;
}

std::expected<std::optional<InputReply>, rpc::Failure> InputReplyIn(const JsonValue& params,
                                                                    const Digest& call,
                                                                    RequestStates& states) {
  const JsonValue* state = params.FindSet("requestState");
  if (state == nullptr) return std::nullopt;
  if (!state->IsString()) return std::unexpected(BadState("must be a string"));
  auto questions = states.Redeem(state->AsString(), call, Clock::now());
  if (!questions && questions.error() == StateProblem::kExpired) {
    return InputReply{.questions = {}, .answer = Answer::kTimeout};
  }
  if (!questions) return std::unexpected(BadState(WhyNot(questions.error())));
  const JsonValue* responses = params.FindSet("inputResponses");
  const JsonValue* result = responses != nullptr ? responses->FindSet(kApprove) : nullptr;
  if (result == nullptr) return std::nullopt;
  return InputReply{.questions = std::move(*questions), .answer = AnswerIn(*result)};
}

Task<Answer> RetryingApprover::Ask(std::vector<Question> questions, CallContext& call) {
  if (const auto reply = std::exchange(reply_, std::nullopt)) {
    if (reply->answer != Answer::kAccept) co_return reply->answer;
    for (const Digest& digest : reply->questions) call.approvals.Grant(digest);
    const auto granted = [&](const Question& question) { return call.approvals.Has(question); };
    if (std::ranges::all_of(questions, granted)) co_return Answer::kAccept;
  }
  std::vector<Digest> all(call.approvals.granted().begin(), call.approvals.granted().end());
  for (const Question& question : questions) all.push_back(DigestOf(question));
  request_ =
      InputRequest{.key = kApprove,
                   .params = ElicitParams(QuestionText(questions, arguments_), kModernRevision),
                   .state = states_.Issue(call_, all, Clock::now())};
  co_return Answer::kPending;
}

}  // namespace pa
