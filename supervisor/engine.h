// Engine: what `serve`, `call` and `doctor` have in common once the policy is loaded.
//
//   Result<EngineParts> parts = LoadEngineParts(options, environment);   // reads files, starts
//   nothing Loop loop; Engine engine(loop.get(), *parts, environment);
//   ... engine.services() ...
//   engine.Shutdown(done);
#pragma once

#include <uv.h>

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/load.h"
#include "supervisor/audit_log.h"
#include "supervisor/command_line.h"
#include "supervisor/environment.h"
#include "supervisor/makefile_watch.h"
#include "supervisor/mount_table.h"
#include "supervisor/request_states.h"
#include "supervisor/session.h"
#include "supervisor/tools/target_cache.h"

namespace pa {

// A loop that asserts at its end that nothing of it was forgotten.
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  uv_loop_t* get() { return &loop_; }
  void Run() { uv_run(&loop_, UV_RUN_DEFAULT); }

 private:
  uv_loop_t loop_;
};

// A signal as a callback; closes itself with its owner, which must let the loop run once more.
class SignalWatch {
 public:
  SignalWatch(uv_loop_t* loop, int signal, std::function<void()> callback);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  struct Handle;
  Handle* handle_;  // frees itself when closed
};

struct EngineParts {
  policy::PolicyPtr policy;
  std::string worker;
  std::function<void(const std::string& spec)> on_spec = {};  // as in RunnerConfig
};

// Everything that is wrong, a line each: policy errors, a missing worker. Warnings are logged.
std::expected<EngineParts, std::vector<std::string>> LoadEngineParts(
    const CommonOptions& options, const Environment& environment);

// What the kernel gives to commands under this policy, seen by trying: whether there are namespaces.
sandbox::KernelFeatures LookAtKernel(EngineParts parts, const Environment& environment);

class Engine {
 public:
  Engine(uv_loop_t* loop, EngineParts parts, const Environment& environment);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const policy::PolicyPtr& policy() const { return policy_; }
  // Refused where commands could then write the TMPDIR that was chosen at the start.
  Result<void> ReplacePolicy(policy::PolicyPtr policy);
  Runner& runner() { return runner_; }
  TargetCache& targets() { return targets_; }
  AuditLog& audit() { return audit_; }
  // Called when the targets of a directory are not those that were last seen there. From now on the
  // Makefiles of those directories are watched, and their targets discovered again when one was touched.
  void WhenTargetsChange(std::function<void()> callback);
  // From now on nothing is kept that holds, or hides, what is mounted and unmounted meanwhile.
  void FollowMounts();
  const Services& services() const { return services_; }
  // What a server before us has left half done when it died is put back, by us or by another that is at it; calls wait
  // for that.
  void UndoEdits();
  // pa::AfterStart: when that is done.
  Task<ToolResult> AfterStart(Task<ToolResult> work, std::string_view tool, CancelSource& cancel);
  // Of the runner; nothing waits for the start any more.
  void Shutdown(std::function<void()> done);

 private:
  // A call that no client has made.
  struct OwnCall {
    CancelSource cancel;
    std::optional<CallContext> context;
  };
  std::shared_ptr<OwnCall> NewOwnCall();
  void DiscoverAgain(const std::string& directory);
  Task<bool> PutBackEdits(CallContext& call);
  Task<bool> MayBegin(CancelSource& cancel);
  void WatchRoots();

  uv_loop_t* loop_;
  const Environment& environment_;
  policy::PolicyPtr policy_;
  std::optional<MakefileWatch> watch_;
  std::optional<MountTable> mounts_;
  std::function<void()> on_targets_;
  std::string tmp_base_;
  ResultStore results_;
  Runner runner_;
  TargetCache targets_;
  AuditLog audit_;
  RequestStates request_states_;
  OutputGate start_;
  std::shared_ptr<OwnCall> start_call_;  // null: there was none
  Services services_;
};

}  // namespace pa
