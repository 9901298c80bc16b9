// OpenCalls: the calls of tools that have not ended, of all sessions of a server. A client of
// 2026-07-28 may bring the answer to a question, or ask for a task, on another connection than that
// of the call, so a call without a request that waits for it is no session's own.
//
//    auto call = std::make_unique<OpenCall>(session, request.id, revision);
//    ...
//    Detach(Dispatch(services, order, call->context), [call](const ToolResult& result) {
//      call->Finish(result);          // it is gone after that
//    });
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "supervisor/call/call_log.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/engine/dispatch.h"
#include "supervisor/engine/services.h"
#include "supervisor/jobs/jobs.h"
#include "supervisor/loop/cancel_source.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/mcp/call_digest.h"
#include "supervisor/mcp/progress.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/mcp/questions.h"
#include "supervisor/mcp/subscriptions.h"
#include "supervisor/mcp/tasks.h"
#include "supervisor/transport/rpc.h"
#include "supervisor/transport/transport.h"

namespace pa {

class Session;
struct ServerState;

// The answers to what came in one array, sent together when the last is there: who still has one to
// give holds it.
class AnswerBatch {
 public:
  // `route`: as in OpenCall.
  AnswerBatch(Transport& transport, std::shared_ptr<Transport> route)
      : transport_(route ? *route : transport), route_(std::move(route)) {}
  ~AnswerBatch();
  AnswerBatch(const AnswerBatch&) = delete;
  AnswerBatch& operator=(const AnswerBatch&) = delete;

  // All of it or, without memory, nothing.
  void Add(std::string_view line);

 private:
  Transport& transport_;
  std::shared_ptr<Transport> route_;
  std::string answers_;  // as an array that is not closed yet
};

// One request for a tool, from its arrival to the end of the call.
struct OpenCall final : CallRequest {
  // Where it is, and so whether its request waits for the reply.
  enum class Place : std::uint8_t { kSession, kParked, kJobs };

  OpenCall(Session& the_session, rpc::Id the_id, Revision the_revision);

  // Its request is this one, of this session, and waits for the reply.
  void Belong(Session& the_session);
  // The output goes there while the request waits; null: nowhere. A call in the background shows it
  // to nobody.
  void ShowOutputTo(OutputSink* sink);
  // `token` "": its client wants none.
  void FollowProgress(Transport& out, const std::string& token);
  // Where its client hears of it.
  Transport& Out() const;
  // Its request has the handle of the job. A client of 2026-07-28 can be asked nothing more.
  void AnswerEarly(const ToolResult& handle) override;
  // Its request ends with the question, or who follows the task is told. False: too many calls wait
  // already, or nobody is left to ask.
  bool Park(const InputRequired& question);
  // Tells its client what happens, of this level and graver ones. A client of 2026-07-28 hears
  // nothing more once its request has the reply.
  void TellFrom(LogLevel least);
  // Once it has begun, which may be after jobs.detach_after.
  void MayBecomeTask();
  // The request gets the result, unless it has its reply.
  void Finish(const ToolResult& result);

  const Services& services;
  ServerState& state;
  Session* session;  // whose request waits for the reply; null: none does
  Session* home;     // with which it ends
  // The way of its request's reply, if that is not its session's.
  std::shared_ptr<Transport> route;
  rpc::Id id;  // its key there
  Place place = Place::kSession;
  Revision revision;
  std::string_view tool;
  Digest digest{};                     // of a modern client's call
  std::shared_ptr<AnswerBatch> batch;  // null: it came alone
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  bool silent = false;  // cancelled by the client, who must hear nothing more of it
  CancelSource cancel;
  std::shared_ptr<Job> job;  // which it is as a task, or may become; null: its client takes none
  TimerHandle detaching;     // until it becomes a task
  bool detaches = false;     // as soon as it begins
  std::unique_ptr<ProgressNotifier> progress;
  std::unique_ptr<LegacyInputs> legacy_inputs;
  std::unique_ptr<ParkedInputs> parked_inputs;
  std::optional<AskingApprover> approver;
  bool may_ask = true;  // its request is one that may ask the client
  // The reply to its request that is made of the result; null: that of tools/call.
  std::function<std::expected<std::string, rpc::Failure>(const ToolResult&)> answer;
  CallContext context;

 private:
  void BecomeTask();
  void Leave(Place where, rpc::Id key, rpc::Id as) noexcept;
  std::chrono::microseconds SinceItStarted() const;
};

class OpenCalls {
 public:
  using Map = std::map<rpc::Id, std::unique_ptr<OpenCall>>;

  // By requestState: the request has its reply, and another one is to bring the user's answer.
  Map parked;
  // By their own keys, tasks by their ids: the request has its reply, and no other one is to come.
  Map jobs;
  std::uint64_t next_job = 1;
  std::set<Session*> sessions;

  TaskState StateOfTask(const Job& job) const;
  // Tells every session whose client listens.
  void TaskChanged(const Job& job) const;
  void ListChanged(ListKind kind) const;
  void ResourceUpdated(const std::string& uri) const;
  void PolicyChanged(const policy::Policy& before) const;
  // Of those that are no session's own: how many end with this one.
  std::size_t CountOf(const Session& home) const;
};

// Calls that end leave the map, and others may end with them. `home`: only those that end with it;
// null: all.
void CancelAll(const OpenCalls::Map& calls, const Session* home = nullptr);

// The key of a call in place of the id of a request: of a parked one its state, of a task its id.
rpc::Id StateId(const std::string& state);

}  // namespace pa
