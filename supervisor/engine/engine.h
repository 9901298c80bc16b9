// Engine: what `serve`, `call` and `doctor` have in common once the policy is loaded.
//
//   Loop loop;
//   Engine engine(loop.get(), parts, environment);
//   ... engine.services() ...
//   engine.Shutdown(done);
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "supervisor/audit/audit_log.h"
#include "supervisor/engine/makefile_watch.h"
#include "supervisor/engine/services.h"
#include "supervisor/loop/loop.h"
#include "supervisor/loop/mount_table.h"
#include "supervisor/state/user_directories.h"
#include "supervisor/tools/target_cache.h"

namespace pa {

struct EngineParts {
  policy::PolicyPtr policy;
  std::string worker;
  std::string tmp_base;  // as in RunnerConfig, like the next
  std::string state_home;
  std::function<void(const std::string& spec)> on_spec = {};  // as in RunnerConfig
};

// What the kernel gives to commands under this policy, seen by trying: whether there are
// namespaces.
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
  // Makefiles of those directories are watched, and their targets discovered again when one was
  // touched.
  void WhenTargetsChange(std::function<void()> callback);
  // From now on nothing is kept that holds, or hides, what is mounted and unmounted meanwhile.
  void FollowMounts();
  const Services& services() const { return services_; }
  // What a server before us has left half done when it died is put back, by us or by another that
  // is at it; calls wait for that.
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
  OutputGate start_;
  std::shared_ptr<OwnCall> start_call_;  // null: there was none
  Services services_;
};

}  // namespace pa
