// Session: one client on one connection, in both eras of MCP.
//
//    Session session(services, state, transport);
//    transport.Start(session);
//    session.WhenEnding([&] { runner.BeginShutdown(); });
//    session.WhenEnded([&] { runner.Shutdown(...); });
//
// One table has all methods: {method, eras, handler}. Requests with the _meta of 2026-07-28 are
// served statelessly; `initialize` opens the legacy era. Calls run as detached coroutines, any
// number at a time; after the reply to a call, or its cancellation, the client gets nothing more
// about it.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "supervisor/call/call_log.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/engine/dispatch.h"
#include "supervisor/engine/services.h"
#include "supervisor/mcp/open_calls.h"
#include "supervisor/mcp/prompts.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/mcp/questions.h"
#include "supervisor/mcp/resources.h"
#include "supervisor/mcp/server_state.h"
#include "supervisor/mcp/subscriptions.h"
#include "supervisor/mcp/tasks.h"
#include "supervisor/transport/rpc.h"
#include "supervisor/transport/transport.h"

namespace pa {

inline constexpr std::size_t kMaxSubscribedResources = 256;

struct SessionOptions {
  // For the audit log: AuditCaller.
  std::string endpoint = "stdio";
  std::string token = {};
  std::string issuer = {};
  // Calls whose requests have their replies end with this session; null: with their own.
  Session* heir = nullptr;
};

class Session : public TransportHandler {
 public:
  Session(const Services& services, ServerState& state, Transport& transport,
          SessionOptions options = {});
  ~Session() override;  // no call may be in flight: see WhenEnded
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void OnLine(std::string_view line) override;
  void OnLineHeld(std::string_view line) override;
  void OnLineTooLong(std::size_t limit, const std::vector<rpc::Outline>& outlines) override;
  void OnClosed() override { Shutdown(); }
  // `route`: where the replies to its requests go, and what is about them, if that is not the
  // session's transport. Calls keep it as long as their requests wait. `trace`: as in
  // AuditCaller::traceparent, of messages that have none.
  void OnMessages(const rpc::Line& line, std::shared_ptr<Transport> route = nullptr,
                  std::string trace = "");
  // The legacy revision that was agreed on.
  Revision legacy_revision() const { return legacy_revision_; }

  // The list of tools, or what they can do, or that of prompts or resources has changed: notifies
  // the client if it wants to know.
  void ListChanged(ListKind kind);
  // The same of one resource.
  void ResourceUpdated(const std::string& uri);
  // The same if tools/list is another one than under the policy `before`.
  void PolicyChanged(const policy::Policy& before);

  // Cancels all calls in flight; their replies are still sent. Further calls and subscriptions are
  // refused.
  void Shutdown();
  // `callback` runs once, at Shutdown, before the calls are cancelled, so that no waiting call
  // begins in the place of a cancelled one.
  void WhenEnding(std::function<void()> callback) { on_ending_ = std::move(callback); }
  // `callback` runs once, after Shutdown, when no call is in flight any more.
  void WhenEnded(std::function<void()> callback);

  // The calls that end with it.
  std::size_t in_flight() const { return calls_.size() + state_.open.CountOf(*this); }
  // Tells the client if it listens.
  void TaskChanged(const TaskState& task);

 private:
  friend struct OpenCall;
  struct Method;
  // A reply, an error, or nothing: the reply comes later.
  using Answer = std::optional<std::expected<std::string, rpc::Failure>>;
  enum class Era { kOpening, kLegacy, kModern };
  static const Method kMethods[];
  static const Method* FindMethod(std::string_view name);

  Transport& Out() const { return route_ ? *route_ : transport_; }
  void OnMessage(const rpc::Parsed& message);
  void Take(const rpc::Parsed& message);
  void TakeFromBatch(const rpc::Parsed& message, bool lawful);
  void AnswerNoMemory(const rpc::Parsed& message);
  void OnBatch(const std::vector<rpc::Parsed>& messages);
  void OnRequest(const rpc::Request& request);
  void OnNotification(const rpc::Notification& notification);
  std::expected<Revision, rpc::Failure> RevisionOf(const rpc::Request& request);
  std::expected<Revision, rpc::Failure> LegacyRevisionOf(const rpc::Request& request);
  void Reply(const rpc::Id& id, const Answer& answer);
  void Fail(const rpc::Failure& failure);
  void SendAnswer(std::string line, const std::shared_ptr<AnswerBatch>& batch, int error = 0);
  void Cancel(const JsonValue& params);
  CallOrder OrderOf(const rpc::Request& request, Revision revision, std::string tool);
  void RecordMisuse(const rpc::Request& request, Revision revision, const std::string& name,
                    const std::string& why);
  AuditCaller CallerOf(const rpc::Request& request, Revision revision);
  using ResultAnswer = decltype(AnswerOfCall::answer);
  Answer StartCall(const rpc::Request& request, Revision revision, const Tool& tool,
                   const JsonValue* arguments, ResultAnswer answer);
  Answer Answered(const rpc::Request& request, Revision revision, Prepared prepared);
  InputKinds InputsOf(const rpc::Request& request, Revision revision) const;
  void Equip(OpenCall& call, const rpc::Request& request);
  bool TakesTask(const rpc::Request& request, const OpenCall& call) const;
  std::expected<std::shared_ptr<Job>, rpc::Failure> TaskOf(const rpc::Request& request);
  Answer Resume(const rpc::Request& request, const std::string& token);
  void SendResult(const OpenCall& call, const ToolResult& result, std::chrono::microseconds took);
  void EndIfIdle();

  Answer Initialize(const rpc::Request& request, Revision revision);
  Answer Discover(const rpc::Request& request, Revision revision);
  Answer Ping(const rpc::Request& request, Revision revision);
  Answer ListTools(const rpc::Request& request, Revision revision);
  Answer CallTool(const rpc::Request& request, Revision revision);
  Answer ListResources(const rpc::Request& request, Revision revision);
  Answer ListResourceTemplates(const rpc::Request& request, Revision revision);
  std::vector<const Tool*> EnabledTools(const policy::Policy& policy) const;
  Answer ReadResource(const rpc::Request& request, Revision revision);
  Answer SubscribeResource(const rpc::Request& request, Revision revision);
  Answer UnsubscribeResource(const rpc::Request& request, Revision revision);
  Answer ListPrompts(const rpc::Request& request, Revision revision);
  Answer GetPrompt(const rpc::Request& request, Revision revision);
  Answer Complete(const rpc::Request& request, Revision revision);
  Answer SetLogLevel(const rpc::Request& request, Revision revision);
  Answer Listen(const rpc::Request& request, Revision revision);
  Answer GetTask(const rpc::Request& request, Revision revision);
  Answer UpdateTask(const rpc::Request& request, Revision revision);
  Answer CancelTask(const rpc::Request& request, Revision revision);

  const Services& services_;
  ServerState& state_;
  Transport& transport_;
  SessionOptions options_;
  Era era_ = Era::kOpening;
  Revision legacy_revision_ = kLatestLegacy;  // agreed on in initialize
  bool initialized_ = false;                  // the legacy client has said so
  bool ending_ = false;
  std::string id_;                            // of the session, for the audit log
  std::string client_name_, client_version_;  // as the legacy client gave them
  OpenCalls::Map calls_;                      // by the id of the request that waits for the reply
  std::shared_ptr<AnswerBatch> batch_;        // the one whose messages are being handled
  std::shared_ptr<Transport> route_;          // of them
  std::string trace_;                         // of them
  Subscriptions subscriptions_;
  ClientRequests requests_;
  // Of the legacy client: for what it can be asked, to which resources it has subscribed, and from
  // which level on calls tell it what happens.
  InputKinds legacy_inputs_;
  std::set<std::string, std::less<>> subscribed_;
  LogLevel legacy_log_level_ = LogLevel::kWarning;
  std::function<void()> on_ending_;
  std::function<void()> on_ended_;
};

}  // namespace pa
