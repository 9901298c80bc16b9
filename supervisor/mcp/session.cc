#include "supervisor/mcp/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_writer.h"
#include "base/try.h"
#include "policy/decide.h"
#include "supervisor/audit/audit_event.h"
#include "supervisor/call/call_record.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/memory_reserve.h"
#include "supervisor/mcp/call_digest.h"
#include "supervisor/mcp/envelope.h"
#include "supervisor/mcp/params.h"
#include "supervisor/mcp/tool_output.h"
#include "supervisor/transport/outline_scanner.h"

namespace pa {
namespace {

// Of the legacy era; the modern one has no code of its own for it.
constexpr int kResourceNotFound = -32002;

// Every list of ours is one page, so that no cursor is one of ours.
std::expected<void, rpc::Failure> NoCursor(const JsonValue& params) {
  if (params.FindSet("cursor") == nullptr) return {};
  return FailedWith(rpc::kInvalidParams, "Invalid cursor");
}

std::unexpected<rpc::Failure> NoResource(const std::string& uri, Revision revision) {
  JsonWriter data;
  data.BeginObject().Field("uri", uri).EndObject();
  return FailedWith(IsModern(revision) ? rpc::kInvalidParams : kResourceNotFound,
                    "Resource not found: " + uri, std::move(data).Take());
}

// 2026-07-28, "multi round-trip requests": lists are no place for questions.
bool MayAsk(std::string_view method) { return method == "tools/call" || method == "prompts/get"; }

// Of one that may ask. Whether prompts of two names need the same call is nothing to their clients.
Digest DigestOfRequest(const rpc::Request& request) {
  const JsonValue* name = request.params.Find("name");
  const bool named = name != nullptr && name->IsString();
  return DigestOfCall(request.method + ' ' + (named ? name->AsString() : ""),
                      request.params.FindSet("arguments"));
}

rpc::Failure NoMemory() {
  return {.code = rpc::kInternalError,
          .message = "Internal error: the server has not enough memory for this message",
          .data = {},
          .id = {}};
}

// Whoever waits for an answer to it gets one all the same.
rpc::Line ReadLine(std::string_view line) {
  try {
    return rpc::ParseLine(line);
  } catch (const std::bad_alloc&) {
    OutlineScanner scanner(line.size());
    scanner.Feed(line);
    return rpc::UnreadableLine(scanner.Take(), NoMemory());
  }
}

}  // namespace

struct Session::Method {
  std::string_view name;
  bool legacy;
  bool modern;
  Answer (Session::*handler)(const rpc::Request&, Revision);
};

// Lawful in this era is data: 2026-07-28 has removed ping, logging/setLevel and
// resources/subscribe.
const Session::Method Session::kMethods[] = {
    {"initialize", true, false, &Session::Initialize},
    {"ping", true, false, &Session::Ping},
    {"server/discover", false, true, &Session::Discover},
    {"subscriptions/listen", false, true, &Session::Listen},
    {"tools/list", true, true, &Session::ListTools},
    {"tools/call", true, true, &Session::CallTool},
    {"resources/list", true, true, &Session::ListResources},
    {"resources/templates/list", true, true, &Session::ListResourceTemplates},
    {"resources/read", true, true, &Session::ReadResource},
    {"resources/subscribe", true, false, &Session::SubscribeResource},
    {"resources/unsubscribe", true, false, &Session::UnsubscribeResource},
    {"prompts/list", true, true, &Session::ListPrompts},
    {"prompts/get", true, true, &Session::GetPrompt},
    {"completion/complete", true, true, &Session::Complete},
    {"logging/setLevel", true, false, &Session::SetLogLevel},
    {"tasks/get", false, true, &Session::GetTask},
    {"tasks/update", false, true, &Session::UpdateTask},
    {"tasks/cancel", false, true, &Session::CancelTask},
};

const Session::Method* Session::FindMethod(std::string_view name) {
  for (const Method& method : kMethods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

Session::Session(const Services& services, ServerState& state, Transport& transport,
                 SessionOptions options)
    : services_(services),
      state_(state),
      transport_(transport),
      options_(std::move(options)),
      requests_(services.loop, state.answer_patience) {
  state_.open.sessions.insert(this);
}

Session::~Session() { state_.open.sessions.erase(this); }

void Session::OnLine(std::string_view line) {
  KeepMemoryReserve();
  OnMessages(ReadLine(line));
}

// A cancel does not wait until the client reads: what it ends may be what it does not read. It
// comes once more in its turn, for a request that was held with it.
void Session::OnLineHeld(std::string_view line) {
  if (line.find("notifications/cancelled") == std::string_view::npos) return;
  try {
    for (const rpc::Parsed& message : ReadLine(line).messages) {
      const auto* notification = message ? std::get_if<rpc::Notification>(&*message) : nullptr;
      if (notification != nullptr && notification->method == "notifications/cancelled") {
        Cancel(notification->params);
      }
    }
  } catch (const std::bad_alloc&) {
    LogWarning("not enough memory to inspect waiting messages");
  }
}

void Session::OnLineTooLong(std::size_t limit, const std::vector<rpc::Outline>& outlines) {
  if (limit == kNoMemory) return OnMessages(rpc::UnreadableLine(outlines, NoMemory()));
  const std::string problem = "a message is longer than " + std::to_string(limit) + " bytes";
  OnMessages(rpc::UnreadableLine(outlines, {.code = rpc::kInvalidRequest,
                                            .message = "Invalid request: " + problem,
                                            .data = {},
                                            .id = {}}));
}

void Session::OnMessages(const rpc::Line& line, std::shared_ptr<Transport> route,
                         std::string trace) {
  route_ = std::move(route);
  trace_ = std::move(trace);
  if (line.batch) {
    OnBatch(line.messages);
  } else {
    for (const rpc::Parsed& message : line.messages) OnMessage(message);
  }
  route_.reset();
  trace_.clear();
}

void Session::OnMessage(const rpc::Parsed& message) {
  try {
    Take(message);
  } catch (const std::bad_alloc&) {
    AnswerNoMemory(message);
  }
}

// Nobody has answered it: an answer is sent whole or not at all.
void Session::AnswerNoMemory(const rpc::Parsed& message) {
  rpc::Failure failure = NoMemory();
  if (!message) {
    failure.id = message.error().id;
  } else if (const auto* request = std::get_if<rpc::Request>(&*message)) {
    failure.id = request->id;
  } else {
    return;
  }
  Fail(failure);
}

void Session::Take(const rpc::Parsed& message) {
  if (!message) {
    Fail(message.error());
  } else if (const auto* request = std::get_if<rpc::Request>(&*message)) {
    OnRequest(*request);
  } else if (const auto* notification = std::get_if<rpc::Notification>(&*message)) {
    OnNotification(*notification);
  } else if (const auto* response = std::get_if<rpc::Response>(&*message)) {
    requests_.OnResponse(*response);
  }
}

// 2025-03-26 alone has batches, and has no initialize in them. Elsewhere each request is refused on
// a line of its own, as whoever sent it waits for its id.
void Session::OnBatch(const std::vector<rpc::Parsed>& messages) {
  const bool lawful = era_ == Era::kLegacy && legacy_revision_ == Revision::k2025_03_26;
  if (lawful) batch_ = std::make_shared<AnswerBatch>(transport_, route_);
  for (const rpc::Parsed& message : messages) {
    try {
      TakeFromBatch(message, lawful);
    } catch (const std::bad_alloc&) {
      AnswerNoMemory(message);
    }
  }
  batch_.reset();
}

void Session::TakeFromBatch(const rpc::Parsed& message, bool lawful) {
  const auto* request = message ? std::get_if<rpc::Request>(&*message) : nullptr;
  if (request == nullptr || (lawful && request->method != "initialize")) return Take(message);
  Fail({.code = rpc::kInvalidRequest,
        .message =
            lawful ? "Invalid request: initialize must not be part of a batch"
                   : "Invalid request: this revision has no batches; send one message on a line",
        .data = {},
        .id = request->id});
}

void Session::OnRequest(const rpc::Request& request) {
  if (calls_.contains(request.id) || subscriptions_.Has(request.id)) {
    return Fail({.code = rpc::kInvalidRequest,
                 .message = "Invalid request: a request with the id " + request.id.token() +
                            " is in flight already; it goes on",
                 .data = {},
                 .id = request.id});
  }
  const std::expected<Revision, rpc::Failure> revision = RevisionOf(request);
  if (!revision) return Reply(request.id, std::unexpected(revision.error()));
  const Method* method = FindMethod(request.method);
  const bool lawful = method != nullptr && (IsModern(*revision) ? method->modern : method->legacy);
  if (!lawful) {
    return Reply(request.id,
                 FailedWith(rpc::kMethodNotFound, "Method not found: " + request.method));
  }
  try {
    Reply(request.id, (this->*method->handler)(request, *revision));
  } catch (const std::bad_alloc&) {
    calls_.erase(request.id);  // it has not begun
    Reply(request.id, std::unexpected(NoMemory()));
    EndIfIdle();
  }
}

// Which revision a request speaks, and so which era the connection is in: `initialize` opens the
// legacy one, the first request with an envelope the modern one. server/discover is a question that
// clients of both eras ask first, so it decides nothing.
std::expected<Revision, rpc::Failure> Session::RevisionOf(const rpc::Request& request) {
  const auto claim = ClaimedRevision(request.params);
  if (request.method == "initialize" && !(claim && *claim)) return LegacyRevisionOf(request);
  if (!claim) return LegacyRevisionOf(request);
  const bool opens = *claim && era_ == Era::kOpening && request.method != "server/discover";
  if (opens) era_ = Era::kModern;
  return *claim;
}

std::expected<Revision, rpc::Failure> Session::LegacyRevisionOf(const rpc::Request& request) {
  if (era_ == Era::kModern) {
    if (request.method != "initialize") return std::unexpected(MissingEnvelope());
    const JsonValue* requested = request.params.Find("protocolVersion");
    const bool named = requested != nullptr && requested->IsString();
    return std::unexpected(UnsupportedVersion(named ? requested->AsString() : ""));
  }
  const Method* method = FindMethod(request.method);
  const bool modern_only = method != nullptr && !method->legacy;
  if (era_ == Era::kOpening && modern_only) return std::unexpected(MissingEnvelope());
  era_ = Era::kLegacy;
  return legacy_revision_;
}

void Session::OnNotification(const rpc::Notification& notification) {
  if (notification.method == "notifications/cancelled") {
    Cancel(notification.params);
  } else if (notification.method == "notifications/initialized") {
    initialized_ = era_ == Era::kLegacy;
  }
}

void Session::Reply(const rpc::Id& id, const Answer& answer) {
  if (!answer) return;
  if (*answer) return SendAnswer(rpc::ResultLine(id, **answer), batch_);
  rpc::Failure failure = answer->error();
  failure.id = id;
  Fail(failure);
}

// The schema of 2025-03-26 lets no error without an id into a batch: a client that holds it against
// that would lose the other answers.
void Session::Fail(const rpc::Failure& failure) {
  if (batch_ && !failure.id) return Out().Send(rpc::ErrorLine(failure.id, failure));
  SendAnswer(rpc::ErrorLine(failure.id, failure), batch_, failure.code);
}

void Session::SendAnswer(std::string line, const std::shared_ptr<AnswerBatch>& batch, int error) {
  if (!batch) return Out().Reply(std::move(line), error);
  batch->Add(line);
}

void Session::Cancel(const JsonValue& params) {
  const JsonValue* value = params.Find("requestId");
  const std::optional<rpc::Id> id = value != nullptr ? rpc::Id::FromJson(*value) : std::nullopt;
  if (!id || subscriptions_.Remove(*id)) return;
  const auto found = calls_.find(*id);
  if (found == calls_.end()) return;
  OpenCall& call = *found->second;
  call.silent = true;
  if (call.progress) call.progress->Silence();
  call.cancel.Cancel();  // last: the call may end at once and be gone
}

void Session::ListChanged(ListKind kind) {
  if (ending_) return;
  if (era_ == Era::kLegacy && initialized_) {
    transport_.Send(rpc::NotificationLine(ListChangedMethod(kind), ""));
  }
  for (std::string& line : subscriptions_.Changed(kind)) transport_.Send(std::move(line));
}

void Session::ResourceUpdated(const std::string& uri) {
  if (ending_) return;
  if (subscribed_.contains(uri)) transport_.Send(ResourceUpdatedLine(uri));
  for (std::string& line : subscriptions_.ResourceUpdated(uri)) transport_.Send(std::move(line));
}

void Session::PolicyChanged(const policy::Policy& before) {
  const auto list = [&](const policy::Policy& policy) {
    return ListToolsResult(kModernRevision, state_.identity, EnabledTools(policy),
                           policy.limits.output_inline);
  };
  // Which tools are on decides about them, for whoever asks from now on.
  UpdateIdentity(state_.identity, *services_.policy());
  if (list(before) != list(*services_.policy())) {
    ListChanged(ListKind::kTools);
    ListChanged(ListKind::kPrompts);  // there are some if the tool make is on
  }
}

void Session::Shutdown() {
  if (std::exchange(ending_, true)) return;
  if (on_ending_) std::exchange(on_ending_, nullptr)();
  for (std::string& line : subscriptions_.End()) transport_.Reply(std::move(line), 0);
  CancelAll(calls_);
  CancelAll(state_.open.parked, this);
  CancelAll(state_.open.jobs, this);
  EndIfIdle();
}

void Session::WhenEnded(std::function<void()> callback) {
  on_ended_ = std::move(callback);
  EndIfIdle();
}

void Session::EndIfIdle() {
  if (ending_ && in_flight() == 0 && on_ended_) std::exchange(on_ended_, nullptr)();
}

Session::Answer Session::Initialize(const rpc::Request& request, Revision) {
  PA_TRY(const auto requested, RequiredString(request.params, "protocolVersion"));
  for (const char* name : {"capabilities", "clientInfo"}) {
    PA_TRY_VOID(OptionalObject(request.params, name));
  }
  const ClientInfo client = ClientInfoIn(request.params.FindSet("clientInfo"));
  client_name_ = client.name;
  client_version_ = client.version;
  const std::optional<Revision> revision = FindRevision(requested);
  legacy_revision_ = revision && !IsModern(*revision) ? *revision : kLatestLegacy;
  legacy_inputs_ = KindsIn(request.params.FindSet("capabilities"), legacy_revision_);
  initialized_ = false;
  return InitializeResult(legacy_revision_, state_.identity);
}

Session::Answer Session::Ping(const rpc::Request&, Revision) { return std::string("{}"); }

Session::Answer Session::Discover(const rpc::Request&, Revision) {
  return DiscoverResult(state_.identity);
}

Session::Answer Session::ListTools(const rpc::Request& request, Revision revision) {
  PA_TRY_VOID(NoCursor(request.params));
  // It takes longer to write than a request by HTTP takes otherwise.
  const policy::PolicyPtr policy = services_.policy();
  ToolList& known = state_.tool_list;
  if (known.policy != policy || known.revision != revision) {
    known = {.policy = policy,
             .revision = revision,
             .json = ListToolsResult(revision, state_.identity, EnabledTools(*policy),
                                     policy->limits.output_inline)};
  }
  return known.json;
}

std::vector<const Tool*> Session::EnabledTools(const policy::Policy& policy) const {
  std::vector<const Tool*> enabled;
  for (const Tool* tool : services_.tools) {
    if (policy.ToolEnabled(std::string(tool->name), tool->annotations.read_only)) {
      enabled.push_back(tool);
    }
  }
  return enabled;
}

// What is wrong with the shape of the request is a JSON-RPC error; what is wrong with the
// arguments, or forbidden, is a result, so that the model can read it and mend it.
Session::Answer Session::CallTool(const rpc::Request& request, Revision revision) {
  PA_TRY(const auto name, RequiredString(request.params, "name"));
  PA_TRY_VOID(OptionalObject(request.params, "arguments"));
  const Tool* tool = FindTool(services_, name);
  if (tool == nullptr) {
    RecordMisuse(request, revision, name, "there is no tool of that name");
    return FailedWith(rpc::kInvalidParams, "Unknown tool: " + name.substr(0, kMaxAuditText) +
                                               "; the tools are: " + ToolNames(services_.tools));
  }
  return StartCall(request, revision, *tool, request.params.FindSet("arguments"), nullptr);
}

// `answer`: OpenCall::answer.
Session::Answer Session::StartCall(const rpc::Request& request, Revision revision, const Tool& tool,
                                   const JsonValue* arguments, ResultAnswer answer) {
  PA_TRY(const auto token, ProgressToken(request.params));
  const std::string name(tool.name);
  if (ending_) return FailedWith(rpc::kInternalError, "The server is shutting down");
  const bool may_ask = MayAsk(request.method);
  if (IsModern(revision) && may_ask && request.params.FindSet("requestState") != nullptr) {
    Answer resumed = Resume(request, token);
    if (resumed && !*resumed) RecordMisuse(request, revision, name, resumed->error().message);
    return resumed;
  }

  auto owned = std::make_unique<OpenCall>(*this, request.id, revision);
  OpenCall& call = *owned;
  call.tool = tool.name;
  call.batch = batch_;
  call.answer = std::move(answer);
  call.may_ask = may_ask;
  Equip(call, request);
  const std::optional<LogLevel> least =
      IsModern(revision) ? ClaimedLogLevel(request.params) : legacy_log_level_;
  if (least) call.TellFrom(*least);
  calls_.emplace(request.id, std::move(owned));
  if (TakesTask(request, call)) call.MayBecomeTask();
  call.FollowProgress(Out(), token);
  CallOrder order{.caller = CallerOf(request, revision), .tool = name, .arguments = arguments};
  Task<ToolResult> task = Dispatch(services_, std::move(order), call.context);
  Detach(std::move(task), [&call](const ToolResult& result) { call.Finish(result); });
  return std::nullopt;
}

InputKinds Session::InputsOf(const rpc::Request& request, Revision revision) const {
  return IsModern(revision) ? KindsIn(ClaimedCapabilities(request.params), revision)
                            : legacy_inputs_;
}

// With what asks the user, where the client can do that for us.
void Session::Equip(OpenCall& call, const rpc::Request& request) {
  const Tool& tool = *FindTool(services_, call.tool);
  // A call that makes others may meet a rule that was not there when it began.
  const bool asks = call.context.policy->EverAsks() || tool.level > 0;
  const InputKinds kinds = InputsOf(request, call.revision);
  if (!call.may_ask || (!asks && !tool.asks_client)) return;
  if (!kinds.elicitation && !tool.asks_client) return;
  if (IsModern(call.revision)) {
    call.digest = DigestOfRequest(request);
    call.parked_inputs = std::make_unique<ParkedInputs>(
        services_.loop, state_.answer_patience, kinds,
        [&call](const InputRequired& required) { return call.Park(required); });
    call.context.client = call.parked_inputs.get();
  } else {
    call.legacy_inputs = std::make_unique<LegacyInputs>(
        requests_, kinds, [&call]() -> Transport& { return call.Out(); });
    call.context.client = call.legacy_inputs.get();
  }
  if (!kinds.elicitation) return;
  call.approver.emplace(*call.context.client, call.revision);
  call.context.approver = &*call.approver;
}

// `job` waits and reads itself for as long as it is told.
bool Session::TakesTask(const rpc::Request& request, const OpenCall& call) const {
  return IsModern(call.revision) && !call.answer &&
         call.context.policy->limits.detach_after.count() > 0 &&
         TakesTasks(ClaimedCapabilities(request.params)) && call.tool != "job";
}

void Session::TaskChanged(const TaskState& task) {
  const auto write = [&](JsonWriter& writer) { WriteTask(writer, task, state_.identity); };
  for (std::string& line : subscriptions_.TaskChanged(task.job.id, write)) {
    transport_.Send(std::move(line));
  }
}

// The parked call goes on as the call of this request.
Session::Answer Session::Resume(const rpc::Request& request, const std::string& token) {
  const auto bad = [](std::string_view why) {
    return InvalidParams(
        fmt::format("params.requestState {}; send the request without it to be asked anew", why));
  };
  const JsonValue& state = *request.params.Find("requestState");
  if (!state.IsString()) return bad("must be a string");
  OpenCalls::Map& parked = state_.open.parked;
  const auto found = parked.find(StateId(state.AsString()));
  if (found == parked.end()) {
    return bad(
        "is not that of a call that waits: it was answered, has expired, "
        "or was not issued by this server");
  }
  OpenCall& call = *found->second;
  if (call.digest != DigestOfRequest(request)) {
    return bad("belongs to a request with another name or other arguments");
  }
  ParkedInputs& parked_inputs = *call.parked_inputs;
  const InputKinds kinds = InputsOf(request, call.revision);
  const bool still_asked =
      std::ranges::all_of(parked_inputs.required().requests,
                          [&](const InputRequest& one) { return kinds.Has(one.kind); });
  if (!parked_inputs.Take(request.params)) {
    return InputRequiredResult(parked_inputs.required(), state_.identity);
  }
  rpc::Id key = request.id;
  rpc::Id id = request.id;
  Session& before = *call.home;
  call.FollowProgress(Out(), token);
  // From here on nothing can fail.
  auto node = parked.extract(found);
  node.key() = std::move(key);
  call.id = std::move(id);
  call.Belong(*this);
  calls_.insert(std::move(node));
  if (&before != this) before.EndIfIdle();
  if (call.job && TakesTask(request, call)) call.MayBecomeTask();
  // Last: the call may end at once and be gone.
  still_asked ? parked_inputs.GoOn() : parked_inputs.GoOnWithout(pa::Answer::kUnavailable);
  return std::nullopt;
}

CallOrder Session::OrderOf(const rpc::Request& request, Revision revision, std::string tool) {
  return {.caller = CallerOf(request, revision),
          .tool = std::move(tool),
          .arguments = request.params.FindSet("arguments")};
}

// Of the protocol: it ends as an error of JSON-RPC, and is recorded all the same.
void Session::RecordMisuse(const rpc::Request& request, Revision revision, const std::string& name,
                           const std::string& why) {
  Detach(Refuse(services_, OrderOf(request, revision, name), InvalidArgument(why, "")),
         [](const ToolResult&) {});
}

AuditCaller Session::CallerOf(const rpc::Request& request, Revision revision) {
  // Most sessions of HTTP are one request, and call nothing.
  if (id_.empty()) id_ = NewAuditId();
  AuditCaller caller{.session = id_,
                     .endpoint = options_.endpoint,
                     .token = options_.token,
                     .issuer = options_.issuer,
                     .client_name = client_name_,
                     .client_version = client_version_,
                     .revision = std::string(RevisionName(revision)),
                     .request_id = request.id.token(),
                     .traceparent = TraceParent(request.params)};
  if (caller.traceparent.empty()) caller.traceparent = trace_;
  if (const std::optional<ClientInfo> client = ClaimedClient(request.params)) {
    caller.client_name = client->name;
    caller.client_version = client->version;
  }
  return caller;
}

void Session::SendResult(const OpenCall& call, const ToolResult& result,
                         std::chrono::microseconds took) {
  const auto reply = [&](std::string line, int error) {
    call.batch ? call.batch->Add(line) : call.Out().Reply(std::move(line), error);
  };
  if (IsModern(call.revision) && call.may_ask && result.needs_input && result.data.empty() &&
      result.error) {
    const rpc::Failure failure = NeedsInput(*result.needs_input, *result.error);
    return reply(rpc::ErrorLine(call.id, failure), failure.code);
  }
  if (!call.answer) {
    const std::string json = CallToolResult(result, took, call.revision, state_.identity);
    return reply(rpc::ResultLine(call.id, json), 0);
  }
  const std::expected<std::string, rpc::Failure> made = call.answer(result);
  if (made) return reply(rpc::ResultLine(call.id, *made), 0);
  reply(rpc::ErrorLine(call.id, made.error()), made.error().code);
}

Session::Answer Session::Answered(const rpc::Request& request, Revision revision,
                                  Prepared prepared) {
  if (!prepared) return std::unexpected(std::move(prepared.error()));
  if (auto* ready = std::get_if<std::string>(&*prepared)) return std::move(*ready);
  AnswerOfCall& made = std::get<AnswerOfCall>(*prepared);
  const Tool* tool = FindTool(services_, made.tool);
  return StartCall(request, revision, *tool, &made.arguments, std::move(made.answer));
}

Session::Answer Session::ListPrompts(const rpc::Request& request, Revision revision) {
  PA_TRY_VOID(NoCursor(request.params));
  const policy::PolicyPtr policy = services_.policy();
  return Answered(request, revision, state_.prompts->List({revision, state_.identity, *policy}));
}

Session::Answer Session::GetPrompt(const rpc::Request& request, Revision revision) {
  PA_TRY(const auto name, RequiredString(request.params, "name"));
  PA_TRY_VOID(OptionalObject(request.params, "arguments"));
  const JsonValue* arguments = request.params.FindSet("arguments");
  if (arguments != nullptr) {
    for (const auto& [argument, value] : arguments->Members()) {
      PA_TRY_VOID(RequiredString(*arguments, argument.c_str(), "params.arguments."));
    }
  }
  const policy::PolicyPtr policy = services_.policy();
  return Answered(request, revision,
                  state_.prompts->Get(name, arguments, {revision, state_.identity, *policy}));
}

Session::Answer Session::Complete(const rpc::Request& request, Revision revision) {
  PA_TRY(const CompletionOrder order, CompletionIn(request.params));
  if (order.of == CompletionOrder::Of::kPrompt) {
    const policy::PolicyPtr policy = services_.policy();
    return Answered(request, revision,
                    state_.prompts->Complete(order, {revision, state_.identity, *policy}));
  }
  PA_TRY(const auto values, state_.resources->Values(order, services_.results));
  return CompleteResult(revision, state_.identity, values, order.value);
}

Session::Answer Session::SetLogLevel(const rpc::Request& request, Revision) {
  PA_TRY(const auto name, RequiredString(request.params, "level"));
  const std::optional<LogLevel> level = FindLogLevel(name);
  if (!level) {
    return InvalidParams(fmt::format("params.level must be one of {}", LogLevelNames()));
  }
  legacy_log_level_ = *level;
  return std::string("{}");
}

Session::Answer Session::ListResources(const rpc::Request& request, Revision revision) {
  PA_TRY_VOID(NoCursor(request.params));
  const std::vector<Resource> resources = state_.resources->List(services_.results);
  return ListResourcesResult(revision, state_.identity, resources);
}

Session::Answer Session::ListResourceTemplates(const rpc::Request& request, Revision revision) {
  PA_TRY_VOID(NoCursor(request.params));
  const std::vector<ResourceTemplate> templates = state_.resources->Templates();
  return ListResourceTemplatesResult(revision, state_.identity, templates);
}

Session::Answer Session::ReadResource(const rpc::Request& request, Revision revision) {
  PA_TRY(const auto uri, RequiredString(request.params, "uri"));
  const auto contents = state_.resources->Read(uri, services_.results);
  if (!contents) return NoResource(uri, revision);
  if (!*contents) return std::unexpected(contents->error());
  return ReadResourceResult(revision, state_.identity, uri, **contents);
}

Session::Answer Session::SubscribeResource(const rpc::Request& request, Revision revision) {
  PA_TRY(const auto uri, RequiredString(request.params, "uri"));
  if (!state_.resources->Has(uri, services_.results)) return NoResource(uri, revision);
  if (subscribed_.size() >= kMaxSubscribedResources) {
    return FailedWith(rpc::kInvalidRequest,
                      fmt::format("Invalid request: a session subscribes to at most {} resources",
                                  kMaxSubscribedResources));
  }
  subscribed_.insert(uri);
  return std::string("{}");
}

Session::Answer Session::UnsubscribeResource(const rpc::Request& request, Revision) {
  PA_TRY(const auto uri, RequiredString(request.params, "uri"));
  subscribed_.erase(uri);
  return std::string("{}");
}

Session::Answer Session::Listen(const rpc::Request& request, Revision) {
  const std::string problem = CheckListenParams(request.params);
  if (!problem.empty()) return InvalidParams(problem);
  if (ending_) return FailedWith(rpc::kInternalError, "The server is shutting down");
  std::set<std::string> tasks = NamedIn(request.params, "taskIds");
  std::set<std::string> resources = NamedIn(request.params, "resourceSubscriptions");
  const bool about_tasks = request.params.Find("notifications")->FindSet("taskIds") != nullptr;
  if (about_tasks && !TakesTasks(ClaimedCapabilities(request.params))) {
    return std::unexpected(NeedsTasks());
  }
  std::erase_if(tasks, [&](const std::string& id) { return services_.jobs.Find(id) == nullptr; });
  std::erase_if(resources, [&](const std::string& uri) {
    return !state_.resources->Has(uri, services_.results);
  });
  transport_.Send(subscriptions_.Add(request.id, request.params, tasks, std::move(resources)));
  // A task that has ended meanwhile, or waits for an answer, does not change by itself.
  for (const std::string& id : tasks) {
    TaskChanged(state_.open.StateOfTask(*services_.jobs.Find(id)));
  }
  return std::nullopt;
}

// A client that may not see a task gets the same answer as if there were none.
std::expected<std::shared_ptr<Job>, rpc::Failure> Session::TaskOf(const rpc::Request& request) {
  if (!TakesTasks(ClaimedCapabilities(request.params))) return std::unexpected(NeedsTasks());
  PA_TRY(const auto id, RequiredString(request.params, "taskId"));
  if (std::shared_ptr<Job> job = services_.jobs.Find(id)) return job;
  return InvalidParams("params.taskId: there is no such task, or it has expired");
}

Session::Answer Session::GetTask(const rpc::Request& request, Revision) {
  PA_TRY(const auto job, TaskOf(request));
  return TaskResult(state_.open.StateOfTask(*job), state_.identity);
}

// An answer to no question that is asked now is ignored.
Session::Answer Session::UpdateTask(const rpc::Request& request, Revision) {
  PA_TRY(const auto job, TaskOf(request));
  PA_TRY_VOID(OptionalObject(request.params, "inputResponses"));
  std::string acknowledgement = TaskAcknowledgement(state_.identity);
  const OpenCalls::Map& jobs = state_.open.jobs;
  const auto found = jobs.find(StateId(job->id));
  ParkedInputs* parked = found != jobs.end() ? found->second->parked_inputs.get() : nullptr;
  if (parked == nullptr || !parked->waits()) return acknowledgement;
  if (parked->Take(request.params)) parked->GoOn();
  // The call goes on; it may have ended already, which was told.
  if (!job->ended) state_.open.TaskChanged(*job);
  return acknowledgement;
}

Session::Answer Session::CancelTask(const rpc::Request& request, Revision) {
  PA_TRY(const auto job, TaskOf(request));
  std::string acknowledgement = TaskAcknowledgement(state_.identity);
  job->Stop();
  return acknowledgement;
}

}  // namespace pa
