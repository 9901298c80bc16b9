// Asks the client for what a call needs, in both eras: with requests of ours while the call waits
// (`elicitation/create`, since 2025-06-18), or with a result that the client answers in its next
// request (2026-07-28, "multi round-trip requests").
//
//    LegacyInputs inputs(requests, kinds, [&]() -> Transport& { return call.Out(); });
//    AskingApprover approver(inputs, revision);
//    call.approver = &approver;              // RunApproved asks it
#pragma once

#include <uv.h>

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "supervisor/call/approval.h"
#include "supervisor/call/client_input.h"
#include "supervisor/call/tool_error.h"
#include "supervisor/loop/cancel_source.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/transport/rpc.h"
#include "supervisor/transport/transport.h"

namespace pa {

// For what a client with these capabilities can be asked. Forms alone count as elicitation, and
// revisions before 2025-06-18 have none.
struct InputKinds {
  bool elicitation = false;
  bool sampling = false;
  bool roots = false;
  bool Has(InputKind kind) const;
};
InputKinds KindsIn(const JsonValue* capabilities, Revision revision);

// The answer in an ElicitResult: kAccept is `accept` with the field true. A malformed result is no
// approval.
Answer AnswerIn(const JsonValue& result);

// Our requests that wait for the client's response.
class ClientRequests {
 public:
  // Where a request goes, and what is said of it later: with HTTP, to the stream of its call as
  // long as that has one.
  using Out = std::function<Transport&()>;
  using Response = std::expected<JsonValue, Answer>;

  ClientRequests(uv_loop_t* loop, std::chrono::milliseconds patience)
      : loop_(loop), patience_(patience) {}
  ClientRequests(const ClientRequests&) = delete;
  ClientRequests& operator=(const ClientRequests&) = delete;

  // Ends with a result, after `patience`, or with `cancel`; without a response, the request is
  // cancelled at the client. kUnavailable: the response is an error.
  Task<Response> Ask(InputRequest request, CancelSource& cancel, const Out& out);
  void OnResponse(const rpc::Response& response);  // ignores one that nobody waits for

 private:
  struct Pending {
    TimerHandle timer;
    const Out& out;
    Completion<Response> response;
  };
  void Settle(const rpc::Id& id, Response response);
  void GiveUp(const rpc::Id& id, Answer why, const char* reason);

  uv_loop_t* loop_;
  std::chrono::milliseconds patience_;
  std::map<rpc::Id, Pending*> pending_;
  std::uint64_t next_ = 1;
};

// Of a legacy client, which is asked while the call waits: one request after the other.
class LegacyInputs final : public ClientInputs {
 public:
  LegacyInputs(ClientRequests& requests, InputKinds kinds, ClientRequests::Out out)
      : requests_(requests), kinds_(kinds), out_(std::move(out)) {}
  bool Has(InputKind kind) const override { return kinds_.Has(kind); }
  Task<Inputs> Ask(std::vector<InputRequest> requests, CancelSource& cancel) override;

 private:
  ClientRequests& requests_;
  InputKinds kinds_;
  ClientRequests::Out out_;
};

// Of a modern client: ends the request with what is asked, or shows it with the task; the call
// waits for the request that brings the answers, at most for `patience`.
class ParkedInputs final : public ClientInputs {
 public:
  // Ends the request, or tells who follows the task. False: it cannot, because too many calls wait
  // already.
  using Park = std::function<bool(const InputRequired& required)>;
  ParkedInputs(uv_loop_t* loop, std::chrono::milliseconds patience, InputKinds kinds, Park park)
      : loop_(loop), patience_(patience), kinds_(kinds), park_(std::move(park)) {}
  bool Has(InputKind kind) const override { return kinds_.Has(kind); }
  Task<Inputs> Ask(std::vector<InputRequest> requests, CancelSource& cancel) override;

  // What was asked last, as far as it is not answered.
  const InputRequired& required() const { return required_; }
  bool waits() const { return waiting_ != nullptr; }
  // Takes from the params of a request the answers to what is asked; others are ignored, and so are
  // those that are no objects. Whether now all are there.
  bool Take(const JsonValue& params);
  // The call goes on, with the answers that were taken, or without; no effect if it does not wait.
  // Last of all the coroutine runs.
  void GoOn();
  void GoOnWithout(Answer why);

 private:
  uv_loop_t* loop_;
  std::chrono::milliseconds patience_;
  InputKinds kinds_;
  Park park_;
  InputRequired required_;
  std::set<std::string> keys_;             // of all that was ever asked
  std::vector<std::string> asked_;         // keys of what was asked last
  std::vector<JsonValue> answers_;         // to these, null as long as there is none
  Completion<Inputs>* waiting_ = nullptr;  // null: the call does not wait
};

// Asks the user with a form. It has one required field without a default, because some clients
// accept an empty form by themselves.
class AskingApprover final : public Approver {
 public:
  AskingApprover(ClientInputs& client, Revision revision) : client_(client), revision_(revision) {}
  Task<Answer> Ask(std::vector<Question> questions, CallContext& call) override;

 private:
  ClientInputs& client_;
  Revision revision_;
};

// The capability of a client that can be asked for that: `elicitation`.
std::string_view CapabilityOf(InputKind kind);

// -32021 in place of the result, because the client of 2026-07-28 has not declared that it can be
// asked for `kind`. The message has the result's advice, `data.error` the whole error.
rpc::Failure NeedsInput(InputKind kind, const ToolError& error);

}  // namespace pa
