#include "supervisor/mcp/open_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "supervisor/call/call_record.h"
#include "supervisor/loop/log.h"
#include "supervisor/mcp/server_state.h"
#include "supervisor/mcp/session.h"
#include "supervisor/mcp/tool_output.h"

namespace pa {
namespace {

// Calls that wait for another request with the user's answer; each holds its arguments.
constexpr std::size_t kMaxParked = 256;

}  // namespace

rpc::Id StateId(const std::string& state) { return rpc::Id('"' + state + '"'); }

AnswerBatch::~AnswerBatch() {
  if (!answers_.empty()) transport_.Reply(std::move(answers_ += ']'), 0);
}

void AnswerBatch::Add(std::string_view line) {
  constexpr std::size_t kAround = 3;  // before it `[` or `,`; at last `]` and the end of the line
  answers_.reserve(answers_.size() + line.size() + kAround);
  answers_ += answers_.empty() ? '[' : ',';
  answers_ += line;
}

OpenCall::OpenCall(Session& the_session, rpc::Id the_id, Revision the_revision)
    : services(the_session.services_),
      state(the_session.state_),
      session(&the_session),
      home(&the_session),
      route(the_session.route_),
      id(std::move(the_id)),
      revision(the_revision),
      detaching(services.loop),
      context(NewContext(services, cancel)) {
  context.request = this;
}

void OpenCall::Belong(Session& the_session) {
  session = home = &the_session;
  route = the_session.route_;
  place = Place::kSession;
  started = std::chrono::steady_clock::now();
}

void OpenCall::ShowOutputTo(OutputSink* sink) {
  if (job) return job->ShowOutputTo(sink);
  if (context.sink == nullptr || context.sink == progress.get()) context.sink = sink;
}

Transport& OpenCall::Out() const { return route ? *route : home->transport_; }

void OpenCall::FollowProgress(Transport& out, const std::string& token) {
  if (token.empty()) return;
  progress = std::make_unique<ProgressNotifier>(
      services.loop, out, token, [this] { return WaitingText(context.record); }, state.heartbeat);
  ShowOutputTo(progress.get());
}

void OpenCall::TellFrom(LogLevel least) {
  context.log = [this, least](LogLevel level, std::string_view of_tool, std::string_view message) {
    const bool heard = !silent && (place == Place::kSession || !IsModern(revision));
    if (level >= least && heard) Out().Send(LogLine(level, of_tool, message));
  };
}

// After the reply, so that nothing of it can fail. `as` is equal to `key`.
void OpenCall::Leave(Place where, rpc::Id key, rpc::Id as) noexcept {
  auto node = session->calls_.extract(id);
  node.key() = std::move(key);
  id = std::move(as);
  place = where;
  Session* const answered = std::exchange(session, nullptr);
  if (answered->options_.heir != nullptr) home = answered->options_.heir;
  if (where == Place::kJobs && context.policy->keep_jobs && state.keeper != nullptr) {
    home = state.keeper;
  }
  route.reset();
  if (where == Place::kJobs) batch.reset();
  detaching.Stop();
  (where == Place::kJobs ? state.open.jobs : state.open.parked).insert(std::move(node));
  if (home != answered) answered->EndIfIdle();
}

void OpenCall::AnswerEarly(const ToolResult& handle) {
  if (place != Place::kSession) return;
  rpc::Id key("\"job-" + std::to_string(state.open.next_job++) + "\"");
  rpc::Id as = key;
  progress.reset();  // before the reply, as in Finish
  if (!silent) session->SendResult(*this, handle, SinceItStarted());
  job.reset();  // it is another job
  if (parked_inputs) {
    context.approver = nullptr;
    context.client = nullptr;
  }
  Leave(Place::kJobs, std::move(key), std::move(as));
}

bool OpenCall::Park(const InputRequired& question) {
  if (place == Place::kJobs && job) {
    state.open.TaskChanged(*job);
    return true;
  }
  if (state.open.parked.size() >= kMaxParked || place != Place::kSession) return false;
  rpc::Id key = StateId(question.state);
  rpc::Id as = key;
  detaches = false;
  ShowOutputTo(nullptr);
  progress.reset();  // before the reply, as in Finish
  Out().Reply(rpc::ResultLine(id, InputRequiredResult(question, state.identity)), 0);
  Leave(Place::kParked, std::move(key), std::move(as));
  return true;
}

void OpenCall::MayBecomeTask() {
  if (!job) {
    job = Jobs::Prepare(tool, context);
    context.begins = [this](const std::string& what) {
      job->Begins(what);
      if (detaches) BecomeTask();
    };
  }
  detaching.Start(context.policy->limits.detach_after, [this] {
    detaches = true;
    if (job->begun()) BecomeTask();
  });
}

// Its request has the task. If that cannot be, it gets the result, however late.
void OpenCall::BecomeTask() {
  if (place != Place::kSession || silent) return;
  try {
    rpc::Id key = StateId(job->id);
    rpc::Id as = key;
    const std::string task = CreateTaskResult(state.open.StateOfTask(*job), state.identity);
    std::string line = rpc::ResultLine(id, task);
    if (!services.jobs.List(job)) return;
    job->ShowOutputTo(nullptr);
    progress.reset();  // before the reply, as in Finish
    Out().Reply(std::move(line), 0);
    Leave(Place::kJobs, std::move(key), std::move(as));
  } catch (const std::bad_alloc&) {
    LogWarning(fmt::format("{}: not enough memory to make a task of the call", tool));
  }
}

std::chrono::microseconds OpenCall::SinceItStarted() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                               started);
}

void OpenCall::Finish(const ToolResult& result) {
  const auto took = SinceItStarted();
  Session* const waits = silent ? nullptr : session;
  Session* const ends = home;
  OpenCalls& open = state.open;
  OpenCalls::Map& calls = place == Place::kSession  ? session->calls_
                          : place == Place::kParked ? open.parked
                                                    : open.jobs;
  const auto node = calls.extract(id);
  progress.reset();  // before the reply, which is the last that a client hears of a call
  if (job && job->listed()) services.jobs.End(*job, result);
  try {
    LogInfo(fmt::format("{}: {} in {} ms", tool,
                        result.error ? CodeText(result.error->code) : "success",
                        took.count() / 1000));
    LogOutcome(context.log, tool, result, took);
    if (waits != nullptr) waits->SendResult(*this, result, took);
    if (place == Place::kJobs && job) open.TaskChanged(*job);
  } catch (const std::bad_alloc&) {
    if (waits != nullptr) waits->SendResult(*this, RefusedCall(OutOfMemory()), took);
  }
  batch.reset();
  ends->EndIfIdle();
}

TaskState OpenCalls::StateOfTask(const Job& job) const {
  TaskState state{.job = job};
  const auto found = jobs.find(StateId(job.id));
  if (found == jobs.end()) return state;
  const OpenCall& call = *found->second;
  if (call.parked_inputs && call.parked_inputs->waits()) {
    state.question = &call.parked_inputs->required();
  }
  state.waits = WaitingText(call.context.record);
  return state;
}

void OpenCalls::TaskChanged(const Job& job) const {
  const TaskState state = StateOfTask(job);
  for (Session* session : sessions) session->TaskChanged(state);
}

void OpenCalls::ListChanged(ListKind kind) const {
  for (Session* session : sessions) session->ListChanged(kind);
}

void OpenCalls::ResourceUpdated(const std::string& uri) const {
  for (Session* session : sessions) session->ResourceUpdated(uri);
}

void OpenCalls::PolicyChanged(const policy::Policy& before) const {
  for (Session* session : sessions) session->PolicyChanged(before);
}

std::size_t OpenCalls::CountOf(const Session& home) const {
  const auto ends_with_it = [&](const auto& entry) { return entry.second->home == &home; };
  return static_cast<std::size_t>(std::ranges::count_if(parked, ends_with_it) +
                                  std::ranges::count_if(jobs, ends_with_it));
}

void CancelAll(const OpenCalls::Map& calls, const Session* home) {
  std::vector<rpc::Id> keys;
  for (const auto& [key, call] : calls) {
    if (home == nullptr || call->home == home) keys.push_back(key);
  }
  for (const rpc::Id& key : keys) {
    const auto found = calls.find(key);
    if (found != calls.end()) found->second->cancel.Cancel();
  }
}

}  // namespace pa
