// ToolFixture: the tools themselves, without a server, on a project with a home of its own, with
// the real worker, make and git.
//
//    Write("Makefile", ".PHONY: hi\nhi:\n\t@echo hi\n");
//    const ToolResult result = Call("make", R"({"target":"hi"})");
//    EXPECT_EQ(Data(result).Find("stdout")->AsString(), "hi\n");
#pragma once

#include <gtest/gtest.h>
#include <uv.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/json.h"
#include "policy/load.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/tool_request.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/engine/approved_call.h"
#include "supervisor/results/result_files.h"
#include "supervisor/tools/registry.h"
#include "supervisor/tools/target_cache.h"
#include "tests/support/result_fits.h"
#include "tests/support/run_until.h"
#include "tests/support/temp_dir.h"

namespace pa {

class ToolFixture : public ::testing::Test {
 protected:
  ToolFixture() {
    for (const char* name : {"project", "home", "outside", "tmp"}) {
      std::filesystem::create_directory(base_ / name);
    }
    policy::PolicySources sources;
    sources.administrator_file = "/nonexistent";
    sources.roots = {project_};
    sources.home = home_;
    sources.variables = ambient_;
    const policy::LoadedPolicy loaded = policy::LoadPolicy(sources);
    EXPECT_TRUE(loaded.policy);
    policy_ = std::make_shared<policy::Policy>(*loaded.policy);
    policy_->enable_all = true;
    const char* worker = std::getenv("PA_WORKER");
    EXPECT_NE(worker, nullptr);
    uv_loop_init(&loop_);
    store_ = std::make_unique<ResultStore>(base_ / "tmp", 1u << 30);
    result_files_ = std::make_unique<ResultFiles>(base_ / "tmp");
    UseWorker(worker ? worker : "");
  }
  ~ToolFixture() override {
    StopRunner();
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }

  void UseWorker(const std::string& path) {
    StopRunner();
    runner_ = std::make_unique<Runner>(&loop_,
                                       RunnerConfig{.worker_path = path,
                                                    .tmp_base = base_ / "tmp",
                                                    .state_home = base_ / "state",
                                                    .on_spec =
                                                        [this](const std::string& spec) {
                                                          if (on_spec_) on_spec_(spec);
                                                        }},
                                       *store_);
  }
  // Uses a worker that fails at `step` (worker/status.cc).
  void UseWorkerThatFails(const std::string& step) {
    const char* faults = std::getenv("PA_WORKER_FAULTS");
    ASSERT_NE(faults, nullptr);
    const std::filesystem::path wrapper = base_ / "wrapper";
    testing::WriteText(wrapper, "#!/bin/sh\nPA_FAIL_ERRNO=5 PA_FAIL_STEP='" + step + "' exec " +
                                    faults + " \"$@\"\n");
    std::filesystem::permissions(wrapper, std::filesystem::perms::owner_all);
    UseWorker(wrapper);
  }

  ToolResult Call(const std::string& name, const std::string& arguments = "{}") {
    const Result<JsonValue> json = ParseJson(arguments);
    EXPECT_TRUE(json.has_value()) << arguments;
    auto request = MakeToolRequest(*FindTool(name), &*json);
    if (!request) return RefusedCall(request.error());
    CallContext call{.policy = policy_,
                     .runner = *runner_,
                     .targets = cache_,
                     .results = *store_,
                     .result_files = *result_files_,
                     .ambient = ambient_,
                     .cancel = cancel_};
    std::optional<ToolResult> result;
    call.approver = approver_;
    running_ = &call.record;
    Task<ToolResult> task = RunApproved(*request, call);
    Detach(std::move(task), [&](ToolResult value) { result = std::move(value); });
    testing::RunUntil(&loop_, [&] { return result.has_value(); });
    if (result && !result->data.empty()) ExpectFits(name, ParseJson(result->data).value());
    record_ = call.record;
    running_ = nullptr;
    return result ? std::move(*result) : ToolResult{};
  }

  // Fails the test if `data` does not fit the tool's outputSchema.
  static void ExpectFits(const std::string& name, const JsonValue& data) {
    if (name != "project_actions") {
      EXPECT_EQ(testing::WhyUnfit(FindTool(name)->data, data), "") << name;
      return;
    }
    // It stands for these tools, and its own table names only the fields that all of them have.
    const auto fits = [&](const char* tool) {
      return testing::WhyUnfit(FindTool(tool)->data, data).empty();
    };
    EXPECT_TRUE(fits("make") || fits("git_add") || fits("git_commit") || fits("makefile_generate"))
        << data.Dump();
  }

  // Fails the test if the call failed.
  JsonValue Data(const ToolResult& result) {
    EXPECT_FALSE(result.error.has_value()) << result.text;
    return ParseJson(result.data.empty() ? "{}" : result.data).value();
  }
  static std::string Code(const ToolResult& result) {
    return result.error ? std::string(CodeText(result.error->code)) : "";
  }

  void Write(const std::string& name, std::string_view text) {
    testing::WriteText(project_ / name, text);
  }
  std::string Read(const std::string& name) { return testing::ReadText(project_ / name); }
  // All that is in the project, by path.
  std::vector<std::string> Everything() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(project_)) {
      names.push_back(entry.path().lexically_relative(project_));
    }
    std::ranges::sort(names);
    return names;
  }
  // The hash of a file as tools report it.
  static std::string HashOf(std::string_view content) { return Hex(Sha256Of(content)); }

  testing::TempDir dir_;
  const std::filesystem::path base_ = std::filesystem::canonical(dir_.path());
  const std::filesystem::path project_ = base_ / "project";
  const std::filesystem::path home_ = base_ / "home";
  const std::filesystem::path outside_ = base_ / "outside";
  std::map<std::string, std::string> ambient_ = {
      {"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", home_}, {"LANG", "C.UTF-8"}};
  std::shared_ptr<policy::Policy> policy_;
  uv_loop_t loop_{};
  std::unique_ptr<ResultStore> store_;
  std::unique_ptr<ResultFiles> result_files_;
  int changes_ = 0;
  TargetCache cache_{[this] { ++changes_; }};
  CancelSource cancel_;
  Approver* approver_ = nullptr;                     // null: nobody can be asked
  CallRecord record_;                                // of the last call
  const CallRecord* running_ = nullptr;              // of the running call
  std::function<void(const std::string&)> on_spec_;  // as in RunnerConfig
  std::unique_ptr<Runner> runner_;

 private:
  void StopRunner() {
    if (!runner_) return;
    bool stopped = false;
    runner_->Shutdown([&] { stopped = true; });
    testing::RunUntil(&loop_, [&] { return stopped; });
    runner_.reset();
  }
};

}  // namespace pa
