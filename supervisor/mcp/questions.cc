#include "supervisor/mcp/questions.h"

#include <fmt/format.h>

#include <algorithm>
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

bool HasObject(const JsonValue* capabilities, std::string_view name) {
  const JsonValue* value = capabilities == nullptr ? nullptr : capabilities->Find(name);
  return value != nullptr && value->IsObject();
}

}  // namespace

bool InputKinds::Has(InputKind kind) const {
  switch (kind) {
    case InputKind::kElicitation:
      return elicitation;
    case InputKind::kSampling:
      return sampling;
    case InputKind::kRoots:
      return roots;
  }
  return false;
}

InputKinds KindsIn(const JsonValue* capabilities, Revision revision) {
  InputKinds kinds{.sampling = HasObject(capabilities, "sampling"),
                   .roots = HasObject(capabilities, "roots")};
  if (revision >= Revision::k2025_06_18 && HasObject(capabilities, "elicitation")) {
    // An empty one means forms; since 2025-11-25 a client can say that it has only URLs.
    const JsonValue* elicitation = capabilities->Find("elicitation");
    kinds.elicitation = elicitation->Find("form") != nullptr || elicitation->Find("url") == nullptr;
  }
  return kinds;
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

Task<ClientRequests::Response> ClientRequests::Ask(InputRequest request, CancelSource& cancel,
                                                   const Out& out) {
  const rpc::Id id("\"approval-" + std::to_string(next_++) + "\"");
  Pending pending{.timer = TimerHandle(loop_), .out = out, .response = {}};
  pending_.emplace(id, &pending);
  out().Send(rpc::RequestLine(id, MethodOf(request.kind), request.params));
  pending.timer.Start(patience_, [&] { GiveUp(id, Answer::kTimeout, "no answer in time"); });
  cancel.OnCancel([&] { GiveUp(id, Answer::kCancel, "the call was cancelled"); });
  Completion<Response>& settled = pending.response;
  Response response = co_await settled;
  cancel.Forget();
  co_return response;
}

void ClientRequests::OnResponse(const rpc::Response& response) {
  if (!response.id) return;
  const bool answered = response.result && response.result->IsObject();
  Settle(*response.id,
         answered ? Response(*response.result) : std::unexpected(Answer::kUnavailable));
}

// Last of all the coroutine goes on; with it goes what waits, and maybe `id`.
void ClientRequests::Settle(const rpc::Id& id, Response response) {
  const auto node = pending_.extract(id);
  if (!node.empty()) node.mapped()->response.Set(std::move(response));
}

void ClientRequests::GiveUp(const rpc::Id& id, Answer why, const char* reason) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;
  JsonWriter params;
  params.BeginObject().Key("requestId").Raw(id.token()).Field("reason", reason).EndObject();
  found->second->out().Send(
      rpc::NotificationLine("notifications/cancelled", std::move(params).Take()));
  Settle(id, std::unexpected(why));
}

Task<Inputs> LegacyInputs::Ask(std::vector<InputRequest> requests, CancelSource& cancel) {
  std::vector<JsonValue> results;
  for (InputRequest& request : requests) {
    Task<ClientRequests::Response> asking = requests_.Ask(std::move(request), cancel, out_);
    ClientRequests::Response response = co_await asking;
    if (!response) co_return std::unexpected(response.error());
    results.push_back(*std::move(response));
  }
  co_return results;
}

Task<Inputs> ParkedInputs::Ask(std::vector<InputRequest> requests, CancelSource& cancel) {
  if (cancel.cancelled()) co_return std::unexpected(Answer::kCancel);
  // No key may come twice in a task. It is plain in the first question, the only one of most calls.
  for (InputRequest& request : requests) {
    const std::string plain = request.key;
    for (int round = 2; !keys_.insert(request.key).second; ++round) {
      request.key = plain + "-" + std::to_string(round);
    }
  }
  asked_.clear();
  for (const InputRequest& request : requests) asked_.push_back(request.key);
  answers_.assign(asked_.size(), {});
  required_ = {.requests = std::move(requests), .state = RandomHex(kStateBytes)};
  Completion<Inputs> said;
  waiting_ = &said;
  TimerHandle timer(loop_);
  const Finally gone([&] {
    waiting_ = nullptr;
    cancel.Forget();
  });
  timer.Start(patience_, [this] { GoOnWithout(Answer::kTimeout); });
  cancel.OnCancel([this] { GoOnWithout(Answer::kCancel); });
  // Last: when the question is out, nothing can fail that would lose the call.
  if (!park_(required_)) co_return std::unexpected(Answer::kTooMany);
  Inputs inputs = co_await said;
  co_return inputs;
}

// All of what is new or nothing of it: memory can be short.
bool ParkedInputs::Take(const JsonValue& params) {
  const JsonValue* given = params.FindSet("inputResponses");
  std::vector<JsonValue> answers = answers_;
  for (std::size_t at = 0; given != nullptr && at < asked_.size(); ++at) {
    const JsonValue* answer = given->FindSet(asked_[at]);
    if (answers[at].IsNull() && answer != nullptr && answer->IsObject()) answers[at] = *answer;
  }
  answers_ = std::move(answers);
  std::erase_if(required_.requests, [&](const InputRequest& request) {
    const auto key = std::ranges::find(asked_, request.key);
    return !answers_[static_cast<std::size_t>(key - asked_.begin())].IsNull();
  });
  return required_.requests.empty();
}

void ParkedInputs::GoOn() {
  if (waiting_ != nullptr) std::exchange(waiting_, nullptr)->Set(std::move(answers_));
}

void ParkedInputs::GoOnWithout(Answer why) {
  if (waiting_ != nullptr) std::exchange(waiting_, nullptr)->Set(std::unexpected(why));
}

Task<Answer> AskingApprover::Ask(std::vector<Question> questions, CallContext& call) {
  std::vector<InputRequest> requests;
  requests.push_back(
      {.key = kApprove, .params = ElicitParams(QuestionText(questions, call.shown), revision_)});
  Task<Inputs> asking = client_.Ask(std::move(requests), call.cancel);
  const Inputs inputs = co_await asking;
  co_return inputs ? AnswerIn(inputs->front()) : inputs.error();
}

std::string_view CapabilityOf(InputKind kind) {
  switch (kind) {
    case InputKind::kElicitation:
      return "elicitation";
    case InputKind::kSampling:
      return "sampling";
    case InputKind::kRoots:
      return "roots";
  }
  return "";
}

rpc::Failure NeedsInput(InputKind kind, const ToolError& error) {
  JsonWriter data;
  data.BeginObject().Key("requiredCapabilities").BeginObject();
  data.Key(CapabilityOf(kind)).BeginObject().EndObject().EndObject();
  data.Key("error");
  WriteError(data, error);
  data.EndObject();
  return {.code = rpc::kMissingCapability,
          .message = fmt::format("Missing required client capability: {}; {}. {}",
                                 CapabilityOf(kind), error.message, error.ai_message),
          .data = std::move(data).Take(),
          .id = {}};
}

}  // namespace pa
