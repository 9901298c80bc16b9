// Asks the user by MCP elicitation, in both eras: with a request of ours while the call waits
// (`elicitation/create`, since 2025-06-18), or with a result that the client answers in its next
// request (2026-07-28). The form has one required field without a default, because some clients
// accept an empty form by themselves.
//
//    ElicitingApprover approver(elicitations, revision, ShownArguments(arguments));
//    call.approver = &approver;              // RunApproved asks it
#pragma once

#include <uv.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "supervisor/call/approval.h"
#include "supervisor/loop/cancel_source.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/mcp/request_states.h"
#include "supervisor/transport/rpc.h"
#include "supervisor/transport/transport.h"

namespace pa {

// Whether a client with these capabilities shows forms. Revisions before 2025-06-18 have no
// elicitation.
bool CanElicit(const JsonValue* capabilities, Revision revision);

// The answer in an ElicitResult: kAccept is `accept` with the field true. A malformed result is no
// approval.
Answer AnswerIn(const JsonValue& result);

// Our requests that wait for the client's response.
class Elicitations {
 public:
  Elicitations(uv_loop_t* loop, Transport& transport, std::chrono::milliseconds patience)
      : loop_(loop), transport_(transport), patience_(patience) {}
  Elicitations(const Elicitations&) = delete;
  Elicitations& operator=(const Elicitations&) = delete;

  // Ends with an answer, after `patience`, or with `cancel`; without an answer, the request is
  // cancelled at the client.
  Task<Answer> Ask(std::string params, CancelSource& cancel);
  void OnResponse(const rpc::Response& response);  // ignores one that nobody waits for

 private:
  struct Pending {
    TimerHandle timer;
    Completion<Answer> answer;
  };
  void Settle(const rpc::Id& id, Answer answer);
  void GiveUp(const rpc::Id& id, Answer answer, const char* reason);

  uv_loop_t* loop_;
  Transport& transport_;
  std::chrono::milliseconds patience_;
  std::map<rpc::Id, Pending*> pending_;
  std::uint64_t next_ = 1;
};

// For a legacy client: asks while the call waits.
class ElicitingApprover final : public Approver {
 public:
  ElicitingApprover(Elicitations& elicitations, Revision revision, std::string arguments)
      : elicitations_(elicitations), revision_(revision), arguments_(std::move(arguments)) {}
  Task<Answer> Ask(std::vector<Question> questions, CallContext& call) override;

 private:
  Elicitations& elicitations_;
  Revision revision_;
  std::string arguments_;
};

// The answer in the next request of a client of 2026-07-28.
struct InputReply {
  std::vector<Digest> questions;  // those that the user was asked
  Answer answer = Answer::kCancel;
};
// -32602 for a requestState that is not valid for this call; kTimeout for one that has expired.
// Nothing if there is none, or no answer with it.
std::expected<std::optional<InputReply>, rpc::Failure> InputReplyIn(const JsonValue& params,
                                                                    const Digest& call,
                                                                    RequestStates& states);

// For a modern client: asks by ending the call.
class RetryingApprover final : public Approver {
 public:
  RetryingApprover(const RequestStates& states, const Digest& call, std::string arguments,
                   std::optional<InputReply> reply)
      : states_(states), call_(call), arguments_(std::move(arguments)), reply_(std::move(reply)) {}
  Task<Answer> Ask(std::vector<Question> questions, CallContext& call) override;

  // The question for the client; nothing if the call ended otherwise.
  const std::optional<InputRequest>& request() const { return request_; }

 private:
  const RequestStates& states_;
  Digest call_;
  std::string arguments_;
  std::optional<InputReply> reply_;
  std::optional<InputRequest> request_;
};

}  // namespace pa
