// RunnerTest: a Runner with a loop, a project, a policy and one of two workers: the real one, or
// one that misbehaves as it is told (tests/support/fake_worker.cc). The destructor checks that
// nothing is left.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "policy/decide.h"
#include "policy/load.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/run/runner.h"
#include "tests/support/processes.h"
#include "tests/support/run_until.h"

namespace pa {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

inline std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

inline std::size_t OpenDescriptors() {
  const fs::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

inline bool HasChildren() { return waitpid(-1, nullptr, WNOHANG) >= 0; }

// The names of those that have ended and were not reaped, and of those that go on. A janitor that
// is killed leaves its chores, which end a moment later and are reaped here: nobody waits for them.
inline std::string LeftBehind() {
  std::string left;
  const bool alone = testing::Eventually([&] {
    siginfo_t ended{};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) return true;
    if (ended.si_pid == 0) return false;
    std::string name;
    std::ifstream("/proc/" + std::to_string(ended.si_pid) + "/comm") >> name;
    if (name != "pa-next-chore" && name != "pa-chore") left += name + " ended, ";
    waitpid(ended.si_pid, nullptr, 0);
    return false;
  });
  return alone ? left : left + "others go on";
}

struct Gate : OutputSink {
  void OnOutput(Stream stream, std::string_view bytes) override {
    (stream == Stream::kStdout ? out : err) += bytes;
    if (close_at != 0 && out.size() >= close_at) output_gate.Close();
  }
  OutputGate* gate() override { return &output_gate; }
  std::string out;
  std::string err;
  std::size_t close_at = 0;
  OutputGate output_gate;
};

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    std::string path = ::testing::TempDir() + "runner-XXXXXX";
    base_ = fs::canonical(mkdtemp(path.data()));
    fs::create_directory(base_ / "project");
    fs::create_directory(base_ / "tmp");
    policy::PolicySources sources;
    sources.administrator_file = "/nonexistent";
    sources.roots = {base_ / "project"};
    sources.home = "/nonexistent";
    std::ofstream(base_ / "policy.yaml") << "version: 1\naudit: {to: none}\n";
    sources.user_file = base_ / "policy.yaml";
    sources.variables = {{"PATH", "/usr/bin:/bin"}};
    const policy::LoadedPolicy loaded = policy::LoadPolicy(sources);
    EXPECT_TRUE(loaded.policy);
    policy_ = std::make_shared<policy::Policy>(*loaded.policy);
    policy_->enable_all = true;
    policy_->namespaces = sandbox::Namespaces::kOff;  // except in tests about them
    uv_loop_init(&loop_);
    store_ = std::make_unique<ResultStore>(base_ / "tmp", 1u << 30);
    UseWorker(FromEnvironment("PA_WORKER"));
  }

  // Nothing may be left: no handle, no process, no temporary file, no descriptor.
  ~RunnerTest() override {
    Stop();
    EXPECT_EQ(LeftBehind(), "");
    EXPECT_TRUE(fs::is_empty(base_ / "tmp"));
    store_.reset();
    EXPECT_EQ(uv_loop_close(&loop_), 0);
    fs::remove_all(base_);
  }

  std::string last_spec_;  // as the Runner showed it
  milliseconds shutdown_grace_{500};
  Spawner* spawner_ = nullptr;  // of the next worker

  void UseWorker(const std::string& path) {
    Stop();
    runner_ = std::make_unique<Runner>(
        &loop_,
        RunnerConfig{.worker_path = path,
                     .tmp_base = base_ / "tmp",
                     .spawner = spawner_,
                     .on_spec = [this](const std::string& spec) { last_spec_ = spec; },
                     .shutdown_grace = shutdown_grace_},
        *store_);
    runner_->Follow(policy_);
  }
  void UseFakeWorker() { UseWorker(FromEnvironment("PA_FAKE_WORKER")); }

  void Stop() {
    if (!runner_) return;
    bool stopped = false;
    runner_->Shutdown([&] { stopped = true; });
    testing::RunUntil(&loop_, [&] { return stopped; });
    runner_.reset();
    while (uv_run(&loop_, UV_RUN_NOWAIT) != 0) {
    }
  }

  CommandPlan Plan(std::vector<std::string> argv) {
    auto directory = policy::ValidateWorkingDirectory(*policy_, "");
    EXPECT_TRUE(directory) << directory.error().message;
    return CommandPlan{.executable = argv[0],
                       .argv = argv,
                       .env = {{"PATH", "/usr/bin:/bin"}},
                       .directory = *directory};
  }

  policy::Allow Allowed(const CommandPlan& plan, milliseconds timeout) {
    const policy::Decision decision =
        policy::Decide(*policy_, {.tool = "make", .directory = &plan.directory});
    EXPECT_TRUE(std::holds_alternative<policy::Permission>(decision));
    return std::get<policy::Permission>(decision).For({.purpose = purpose_, .timeout = timeout});
  }

  struct Pending {
    std::optional<Execution> execution;
  };
  std::shared_ptr<Pending> Start(CommandPlan plan, RunOptions options = {},
                                 milliseconds timeout = milliseconds(20'000)) {
    auto pending = std::make_shared<Pending>();
    policy::Allow allow = Allowed(plan, timeout);
    Detach(runner_->Run(std::move(plan), std::move(allow), policy_, options),
           [pending](Execution execution) { pending->execution = std::move(execution); });
    return pending;
  }
  Execution Finish(const std::shared_ptr<Pending>& pending) {
    testing::RunUntil(&loop_, [&] { return pending->execution.has_value(); });
    return *pending->execution;
  }
  Execution Run(std::vector<std::string> argv, RunOptions options = {},
                milliseconds timeout = milliseconds(20'000)) {
    return Finish(Start(Plan(std::move(argv)), options, timeout));
  }
  Execution Shell(const std::string& script, RunOptions options = {},
                  milliseconds timeout = milliseconds(20'000)) {
    return Run({"/bin/sh", "-c", script}, options, timeout);
  }
  Execution Fake(const std::string& behaviour, RunOptions options = {},
                 milliseconds timeout = milliseconds(20'000)) {
    return Run({"/fake", behaviour}, options, timeout);
  }
  void RunLoopUntil(const std::function<bool()>& condition) {
    testing::RunUntil(&loop_, condition);
  }

  fs::path base_;
  std::shared_ptr<policy::Policy> policy_;
  policy::Purpose purpose_ = policy::Purpose::kBuild;
  uv_loop_t loop_;
  std::unique_ptr<ResultStore> store_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace pa
