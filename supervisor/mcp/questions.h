// Questions to the user by MCP elicitation, in both eras: a request of ours while the call waits
// (`elicitation/create`, since 2025-06-18), or a result that the client answers with its next
// request (2026-07-28). The form has one field that must be filled in and has no default: there are
// clients that accept an empty form by themselves.
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

// Whether a client with these capabilities shows forms. Before 2025-06-18 there was no such thing.
bool CanElicit(const JsonValue* capabilities, Revision revision);

// Of an ElicitResult: yes is `accept` with the field true. What is none is no approval.
Answer AnswerIn(const JsonValue& result);

// Requests of ours that wait for the client's response.
class Elicitations {
 public:
  Elicitations(uv_loop_t* loop, Transport& transport, std::chrono::milliseconds patience)
      : loop_(loop), transport_(transport), patience_(patience) {}
  Elicitations(const Elicitations&) = delete;
  Elicitations& operator=(const Elicitations&) = delete;

  // Ends when there is an answer, when it has taken too long, or with `cancel`; the client is told
  // then.
  Task<Answer> Ask(std::string params, CancelSource& cancel);
  void OnResponse(const rpc::Response& response);  // one that nobody waits for is passed over

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

// Of a legacy client.
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

// What a client of 2026-07-28 has brought back.
struct InputReply {
  std::vector<Digest> questions;  // that the user was asked
  Answer answer = Answer::kCancel;
};
// -32602 for a requestState that is not good for this call; nothing where none came, or no answer
// with it.
std::expected<std::optional<InputReply>, rpc::Failure> InputReplyIn(const JsonValue& params,
                                                                    const Digest& call,
                                                                    RequestStates& states);

// Of a modern client: asks by ending the call.
class RetryingApprover final : public Approver {
 public:
  RetryingApprover(const RequestStates& states, const Digest& call, std::string arguments,
                   std::optional<InputReply> reply)
      : states_(states), call_(call), arguments_(std::move(arguments)), reply_(std::move(reply)) {}
  Task<Answer> Ask(std::vector<Question> questions, CallContext& call) override;

  // What the client must be asked; nothing: the call ended otherwise.
  const std::optional<InputRequest>& request() const { return request_; }

 private:
  const RequestStates& states_;
  Digest call_;
  std::string arguments_;
  std::optional<InputReply> reply_;
  std::optional<InputRequest> request_;
};

}  // namespace pa
