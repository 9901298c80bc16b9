// Asks the user by MCP elicitation, in both eras: with a request of ours while the call waits
// (`elicitation/create`, since 2025-06-18), or with a result that the client answers in its next
// request (2026-07-28). The form has one required field without a default, because some clients
// accept an empty form by themselves.
//
//    ElicitingApprover approver(elicitations, revision);
//    call.approver = &approver;              // RunApproved asks it
#pragma once

#include <uv.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "supervisor/call/approval.h"
#include "supervisor/call/tool_error.h"
#include "supervisor/loop/cancel_source.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/mcp/protocol.h"
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
  // Where a request goes, and what is said of it later: with HTTP, to the stream of its call as
  // long as that has one.
  using Out = std::function<Transport&()>;

  Elicitations(uv_loop_t* loop, std::chrono::milliseconds patience)
      : loop_(loop), patience_(patience) {}
  Elicitations(const Elicitations&) = delete;
  Elicitations& operator=(const Elicitations&) = delete;

  // Ends with an answer, after `patience`, or with `cancel`; without an answer, the request is
  // cancelled at the client.
  Task<Answer> Ask(std::string params, CancelSource& cancel, const Out& out);
  void OnResponse(const rpc::Response& response);  // ignores one that nobody waits for

 private:
  struct Pending {
    TimerHandle timer;
    const Out& out;
    Completion<Answer> answer;
  };
  void Settle(const rpc::Id& id, Answer answer);
  void GiveUp(const rpc::Id& id, Answer answer, const char* reason);

  uv_loop_t* loop_;
  std::chrono::milliseconds patience_;
  std::map<rpc::Id, Pending*> pending_;
  std::uint64_t next_ = 1;
};

// For a legacy client: asks while the call waits.
class ElicitingApprover final : public Approver {
 public:
  ElicitingApprover(Elicitations& elicitations, Revision revision, Elicitations::Out out)
      : elicitations_(elicitations), revision_(revision), out_(std::move(out)) {}
  Task<Answer> Ask(std::vector<Question> questions, CallContext& call) override;

 private:
  Elicitations& elicitations_;
  Revision revision_;
  Elicitations::Out out_;
};

// For a modern client: ends the request with the question, or shows it with the task; the call
// waits for the request that brings the answer, at most for `patience`. It asks one question at a
// time.
class ParkingApprover final : public Approver {
 public:
  // Ends the request, or tells who follows the task. False: it cannot, because too many calls wait
  // already.
  using Park = std::function<bool(const InputRequest& question)>;
  ParkingApprover(uv_loop_t* loop, std::chrono::milliseconds patience, Park park)
      : loop_(loop), patience_(patience), park_(std::move(park)) {}
  Task<Answer> Ask(std::vector<Question> questions, CallContext& call) override;

  // The last one that was asked.
  const InputRequest& question() const { return question_; }
  bool waits() const { return waiting_ != nullptr; }
  // The call goes on; without effect if it does not wait. Last of all the coroutine runs.
  void Settle(Answer answer);

 private:
  uv_loop_t* loop_;
  std::chrono::milliseconds patience_;
  Park park_;
  InputRequest question_;
  std::size_t asked_ = 0;
  Completion<Answer>* waiting_ = nullptr;  // null: the call does not wait
};

// The response to the question in the request that brings it; null: there is none.
const JsonValue* ResponseIn(const JsonValue& params, const InputRequest& question);

// -32021 in place of the result, because the client of 2026-07-28 has not declared that it can ask
// its user. The message has the result's advice, `data.error` the whole error.
rpc::Failure NeedsElicitation(const ToolError& error);

}  // namespace pa
