// FakeWorld: a session with tools that do what the test says, and no workers.
//
//    FakeWorld world;
//    world.session().OnLine(R"({"jsonrpc":"2.0","id":1,"method":"tools/call",...})");
//    world.Print("line\n");   // every running `wait` tool writes this
//    world.Finish();          // ends the one that began first
//    world.transport.sent     // what the client received
//
// Tools: `note` returns its text; `fail` fails with data; `long` has a stored output; `wait` runs
// until told; `off` is not enabled, nor is `ask`, which needs an approval for each word of its
// text; `make_targets` lists `test` and `lint`.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "supervisor/audit/audit_log.h"
#include "supervisor/call/tool_request.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/engine/call_counts.h"
#include "supervisor/engine/call_rate.h"
#include "supervisor/jobs/jobs.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/mcp/session.h"
#include "supervisor/results/result_files.h"
#include "supervisor/tools/target_cache.h"
#include "tests/support/fake_transport.h"
#include "tests/support/run_until.h"

namespace pa {

// A loop that must have no open handles at its end.
class TestLoop {
 public:
  TestLoop() { uv_loop_init(&loop_); }
  ~TestLoop() {
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }
  TestLoop(const TestLoop&) = delete;
  TestLoop& operator=(const TestLoop&) = delete;
  uv_loop_t* get() { return &loop_; }

 private:
  uv_loop_t loop_;
};

class FakeWorld {
 public:
  explicit FakeWorld(std::chrono::milliseconds answer_patience = kAnswerPatience,
                     std::chrono::milliseconds heartbeat = ProgressNotifier::kHeartbeat)
      : results_("/tmp", 1u << 20),
        runner_(loop_.get(), {.worker_path = "/nonexistent", .tmp_base = "/tmp"}, results_),
        audit_(loop_.get()),
        services_{.loop = loop_.get(),
                  .policy = [this] { return policy_; },
                  .runner = runner_,
                  .targets = targets_,
                  .results = results_,
                  .jobs = jobs_,
                  .result_files = result_files_,
                  .after_start = [](Task<ToolResult> work, std::string_view,
                                    CancelSource&) { return work; },
                  .ambient = ambient_,
                  .tools = Tools(),
                  .audit = audit_,
                  .rate = rate_,
                  .counts = counts_},
        state_{.identity = {.version = "1.0.0", .instructions = "Test instructions."},
               .answer_patience = answer_patience,
               .heartbeat = heartbeat},
        session_(std::make_unique<Session>(services_, state_, transport)) {
    Enable({"wait"});
    Current() = this;
  }
  ~FakeWorld() {
    session_->Shutdown();
    session_.reset();
    bool done = false;
    runner_.Shutdown([&] { done = true; });
    uv_run(loop_.get(), UV_RUN_DEFAULT);
    EXPECT_TRUE(done);
    Current() = nullptr;
  }
  FakeWorld(const FakeWorld&) = delete;
  FakeWorld& operator=(const FakeWorld&) = delete;

  Session& session() { return *session_; }
  const Services& services() const { return services_; }
  ServerState& state() { return state_; }

  void Enable(std::set<std::string> tools) {
    auto policy = std::make_shared<policy::Policy>();
    policy->roots = {"/tmp"};
    policy->enabled_tools = std::move(tools);
    policy->permissions = {{.tool = "ask", .verdict = policy::Verdict::kAsk, .where = "here"}};
    policy->limits.detach_after = detach_after_;
    policy_ = std::move(policy);
  }
  // Calls from now on; 0: never.
  void DetachAfter(std::chrono::milliseconds time) {
    detach_after_ = time;
    Enable(policy_->enabled_tools);
  }

  // Every running tool writes this; the client sees it only if its call has a progressToken.
  void Print(std::string_view bytes) {
    for (Running* running : running_) {
      if (OutputSink* sink = running->call.sink) sink->OnOutput(Stream::kStdout, bytes);
    }
  }
  void Finish() {
    ASSERT_FALSE(running_.empty());
    running_.front()->end.Set("finished");
  }
  void FinishLast() {
    ASSERT_FALSE(running_.empty());
    running_.back()->end.Set("finished");
  }
  std::size_t running() const { return running_.size(); }

  // Runs the loop until `sent` lines were sent. Heartbeats keep no loop alive.
  void WaitFor(std::size_t sent) {
    TimerHandle keeper(loop_.get());
    keeper.Start(std::chrono::minutes(5), [] {});
    testing::RunUntil(loop_.get(), [&] { return transport.sent.size() >= sent; });
  }

  // A few turns of the loop, without a wait.
  void Turn() {
    for (int i = 0; i < 3; ++i) uv_run(loop_.get(), UV_RUN_NOWAIT);
  }
  // Runs the loop until no timer runs.
  void Wait() { uv_run(loop_.get(), UV_RUN_DEFAULT); }

  // A stored output; returns its URI.
  std::string Store(std::string_view text) {
    const Result<std::shared_ptr<StoredOutput>> output = results_.Begin(1u << 20);
    EXPECT_TRUE(output);
    EXPECT_TRUE(results_.Append(**output, text));
    return results_.Publish(*output, "make test: stdout");
  }

  FakeTransport transport;
  bool stubborn = false;  // `wait` does not end because its call is cancelled

 private:
  struct Running {
    CallContext& call;
    Completion<std::string> end;
  };

  // Tools are plain functions, so they find their world here.
  static FakeWorld*& Current() {
    static FakeWorld* current = nullptr;
    return current;
  }

  static ToolResult Succeeded(std::string_view text) {
    JsonWriter data;
    data.BeginObject().Field("text", text).EndObject();
    ToolResult result;
    result.data = std::move(data).Take();
    result.text = text;
    return result;
  }

  static Task<ToolResult> Note(ToolRequest request, CallContext&) {
    co_return Succeeded(*request.arguments().String("text"));
  }

  static Task<ToolResult> Fail(ToolRequest, CallContext&) {
    ToolResult result = Succeeded("exited with 2 after 0 ms\nno such file");
    result.error = ToolError{ErrorCode::kCommandFailed, "make test exited with status 2",
                             "Read the output.", true, R"({"exit_code":2})"};
    co_return result;
  }

  static Task<ToolResult> Long(ToolRequest, CallContext&) {
    ToolResult result = Succeeded("the beginning and the end");
    result.truncated = true;
    result.result_uri = Current()->Store("all of it");
    result.links = {{.uri = result.result_uri,
                     .name = "make test: stdout",
                     .title = "Full standard output",
                     .mime_type = "text/plain",
                     .size = 9}};
    result.warnings = {"this kernel lacks scopes"};
    co_return result;
  }

  static Task<ToolResult> ListTargets(ToolRequest, CallContext&) {
    ToolResult result;
    result.data = R"({"makefile":"Makefile","targets":[{"name":"test","description":"run it all"},)"
                  R"({"name":"lint"}],"refused":[]})";
    result.text = "test, lint";
    co_return result;
  }

  static Task<ToolResult> WaitUntilTold(ToolRequest, CallContext& call) {
    Running running{.call = call, .end = {}};
    std::deque<Running*>& all = Current()->running_;
    all.push_back(&running);
    if (!Current()->stubborn) {
      call.cancel.OnCancel([&running] { running.end.Set("cancelled"); });
    }
    if (call.begins) call.begins("wait");
    const std::string how = co_await running.end;
    call.cancel.Forget();
    std::erase(all, &running);
    ToolResult result = Succeeded(how);
    if (how == "cancelled")
      result.error = ToolError{ErrorCode::kCancelled, "wait was cancelled", "", true, ""};
    co_return result;
  }

  static Task<ToolResult> AskForEach(ToolRequest request, CallContext& call) {
    std::istringstream words(*request.arguments().String("text"));
    for (std::string word; words >> word;) {
      Question question{"permissions[0] (policy.yaml:3:5)", "touches production", "ask " + word};
      if (call.approvals.Has(question)) continue;
      call.approvals.Want(question);
      co_return RefusedCall(NotApproved(Answer::kUnavailable, {&question, 1}));
    }
    co_return Succeeded("approved");
  }

  static std::span<const Tool* const> Tools();

  TestLoop loop_;
  ResultStore results_;
  Jobs jobs_;
  ResultFiles result_files_{"/tmp"};
  Runner runner_;
  TargetCache targets_;
  std::map<std::string, std::string> ambient_;
  std::chrono::milliseconds detach_after_ = policy::Limits{}.detach_after;
  policy::PolicyPtr policy_;
  std::deque<Running*> running_;
  AuditLog audit_;
  CallRate rate_;
  CallCounts counts_;
  Services services_;
  ServerState state_;
  std::unique_ptr<Session> session_;
};

inline std::span<const Tool* const> FakeWorld::Tools() {
  static constexpr ResultField kData[] = {{.name = "text", .required = true}};
  static constexpr std::string_view kItems[] = {"text"};
  static constexpr Param kNoteParams[] = {
      {.name = "text", .required = true, .description = "what to give back"}};
  static constexpr Annotations kReads{.read_only = true};
  static constexpr Annotations kDestroys{.destructive = true, .open_world = true};
  static const Tool kNote{.name = "note",
                          .title = "Note",
                          .description = "Gives its text back",
                          .annotations = kReads,
                          .params = kNoteParams,
                          .data = kData,
                          .items = kItems,
                          .run = Note,
                          .purpose = policy::Purpose::kReadFile};
  const auto tool = [](std::string_view name, std::string_view title, std::string_view description,
                       Annotations annotations, std::span<const Param> params,
                       Task<ToolResult> (*run)(ToolRequest, CallContext&)) {
    return Tool{.name = name,
                .title = title,
                .description = description,
                .annotations = annotations,
                .params = params,
                .data = kData,
                .items = kItems,
                .run = run};
  };
  static const Tool kFail = tool("fail", "Fail", "Fails", kReads, {}, Fail);
  static const Tool kLong = tool("long", "Long", "Has a long output", kReads, {}, Long);
  static const Tool kWait = tool("wait", "Wait", "Runs until told", kDestroys, {}, WaitUntilTold);
  static const Tool kOff = tool("off", "Off", "Is not enabled", kDestroys, kNoteParams, Note);
  static const Tool kAsk = tool("ask", "Ask", "Asks the user", kDestroys, kNoteParams, AskForEach);
  static constexpr Param kDirectory[] = {{.name = "working_directory", .description = "where"}};
  static const Tool kMakeTargets =
      tool("make_targets", "List make targets", "Lists targets", kReads, kDirectory, ListTargets);
  static const Tool* const kFakeTools[] = {&kNote, &kFail, &kLong,       &kWait,
                                           &kOff,  &kAsk,  &kMakeTargets};
  return kFakeTools;
}

}  // namespace pa
