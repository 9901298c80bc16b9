// FakeCalls: a CallStarter whose tools do what the test says, without policy and workers.
//
//    FakeCalls calls;
//    calls.On("note", [](const JsonValue& arguments, CallContext&) { return ToolResult{...}; });
//    Task<ToolResult> task = RunPipeline(pipeline, calls.outer());
//    calls.made()                    // {"note {\"text\":\"x\"}", ...}
//
// Tools: `note` {text}, `list` {paths: string[]}, `shell` {command, a program; stdin?}, `nest` of
// level 1, `off`, which is refused. A tool without On returns its arguments as its data.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/call/call_starter.h"
#include "supervisor/call/tool_request.h"
#include "supervisor/results/result_files.h"
#include "supervisor/results/result_store.h"
#include "supervisor/tools/target_cache.h"
#include "tests/support/fake_world.h"
#include "tests/support/run_until.h"

namespace pa {

class FakeCalls final : public CallStarter {
 public:
  using Behaviour = std::function<ToolResult(const JsonValue& arguments, CallContext& context)>;

  FakeCalls() {
    auto policy = std::make_shared<policy::Policy>();
    policy->roots = {"/tmp"};
    policy_ = std::move(policy);
    outer_ = std::make_unique<CallContext>(NewContext(cancel_));
    outer_->starter = this;
  }
  ~FakeCalls() override {
    runner_.Shutdown([] {});
    uv_run(loop_.get(), UV_RUN_DEFAULT);
  }

  void On(const std::string& tool, Behaviour behaviour) { on_[tool] = std::move(behaviour); }
  // The tool runs until it is cancelled, and ends at once then.
  void Hang(const std::string& tool) { hangs_ = tool; }
  CallContext& outer() { return *outer_; }
  CancelSource& cancel() { return cancel_; }
  ResultStore& results() { return results_; }
  uv_loop_t* loop() { return loop_.get(); }
  const std::vector<std::string>& made() const { return made_; }
  policy::Limits& limits() { return const_cast<policy::Policy&>(*policy_).limits; }

  // A text in the result store; returns its URI.
  std::string Store(std::string_view text) {
    const auto output = results_.Begin(64U << 20);
    EXPECT_TRUE(output);
    EXPECT_TRUE(results_.Append(**output, text));
    return results_.Publish(*output, "a text");
  }

  // Runs `task` to its end.
  ToolResult Await(Task<ToolResult> task) {
    std::optional<ToolResult> result;
    Detach(std::move(task), [&](ToolResult value) { result = std::move(value); });
    testing::RunUntil(loop_.get(), [&] { return result.has_value(); });
    return result.value_or(ToolResult{});
  }

  const Tool* Find(std::string_view name) const override {
    for (const Tool& tool : Tools()) {
      if (tool.name == name) return &tool;
    }
    return nullptr;
  }
  std::optional<ToolError> WhyNot(const std::string& tool) const override {
    if (tool == "off") {
      return ToolError{.code = ErrorCode::kToolDisabled, .message = "'off' is off"};
    }
    if (Find(tool) != nullptr) return std::nullopt;
    return InvalidArgument("there is no tool '" + tool + "'", "");
  }
  std::optional<ToolError> CheckArguments(
      const Tool& tool, const JsonValue& arguments,
      const std::set<std::string, std::less<>>& later) const override {
    std::vector<Param> params;
    for (const Param& param : tool.params) {
      if (!later.contains(param.name)) params.push_back(param);
    }
    std::vector<JsonValue::Member> known;
    for (const auto& member : arguments.Members()) {
      if (!later.contains(member.first)) known.push_back(member);
    }
    const JsonValue object = JsonValue::Object(std::move(known));
    auto valid = ValidateArguments(params, &object);
    return valid ? std::nullopt : std::optional(valid.error());
  }
  CallContext NewContext(CancelSource& cancel) override {
    return {.policy = policy_,
            .runner = runner_,
            .targets = targets_,
            .results = results_,
            .result_files = result_files_,
            .ambient = ambient_,
            .cancel = cancel};
  }
  Task<ToolResult> Start(std::string tool, JsonValue arguments, CallContext& context) override {
    made_.push_back(tool + " " + arguments.Dump());
    if (tool == hangs_) {
      Completion<bool> cancelled;
      context.cancel.OnCancel([&] { cancelled.Set(true); });
      [[maybe_unused]] const bool over = co_await cancelled;
      co_return RefusedCall(Cancelled(tool));
    }
    const auto found = on_.find(tool);
    if (found != on_.end()) co_return found->second(arguments, context);
    ToolResult result;
    result.data = arguments.Dump();
    result.text = tool + ": done";
    co_return result;
  }

 private:
  static std::span<const Tool> Tools() {
    static constexpr Param kNote[] = {{.name = "text", .required = true},
                                      {.name = "result", .kind = ParamKind::kResult}};
    static constexpr Param kList[] = {
        {.name = "paths", .kind = ParamKind::kStringArray, .required = true, .minimum = 1},
        {.name = "result", .kind = ParamKind::kResult}};
    static constexpr Param kShell[] = {{.name = "command", .required = true, .is_program = true},
                                       {.name = "stdin"}};
    static constexpr Param kNest[] = {
        {.name = "tool", .required = true},
        {.name = "items", .kind = ParamKind::kObjectArray, .required = true}};
    static constexpr std::string_view kText[] = {"text"};
    static constexpr std::string_view kPaths[] = {"paths"};
    static constexpr ResultField kTextData[] = {{.name = "text"}};
    static constexpr ResultField kPathsData[] = {
        {.name = "paths", .kind = FieldKind::kStringArray}};
    static const Tool kTools[] = {
        {.name = "note", .params = kNote, .data = kTextData, .items = kText, .run = nullptr},
        {.name = "list", .params = kList, .data = kPathsData, .items = kPaths, .run = nullptr},
        {.name = "shell", .params = kShell, .data = {}, .run = nullptr},
        {.name = "nest", .params = kNest, .data = {}, .run = nullptr, .level = 1},
        {.name = "off", .params = kNote, .data = {}, .run = nullptr},
    };
    return kTools;
  }

  TestLoop loop_;
  ResultStore results_{"/tmp", 64U << 20};
  ResultFiles result_files_{"/tmp"};
  Runner runner_{loop_.get(), {.worker_path = "/nonexistent", .tmp_base = "/tmp"}, results_};
  TargetCache targets_;
  const std::map<std::string, std::string> ambient_;
  policy::PolicyPtr policy_;
  CancelSource cancel_;
  std::map<std::string, Behaviour> on_;
  std::string hangs_;
  std::vector<std::string> made_;
  std::unique_ptr<CallContext> outer_;
};

}  // namespace pa
