// Engine: what `serve`, `call` and `doctor` share once the policy is loaded: the runner, stored
// results, the cache of targets, the audit log. It knows no protocol.
//
//    Loop loop;
//    Engine engine(loop.get(), parts, environment);
//    ... Dispatch(engine.services(), ...) ...
//    engine.Shutdown(done);
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "supervisor/audit/audit_log.h"
#include "supervisor/engine/call_counts.h"
#include "supervisor/engine/call_rate.h"
#include "supervisor/engine/makefile_watch.h"
#include "supervisor/engine/services.h"
#include "supervisor/jobs/jobs.h"
#include "supervisor/loop/loop.h"
#include "supervisor/loop/mount_table.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/results/result_files.h"
#include "supervisor/state/user_directories.h"
#include "supervisor/tools/target_cache.h"

namespace pa {

struct EngineParts {
  policy::PolicyPtr policy;
  std::string worker;
  std::string tmp_base;  // as in RunnerConfig; so is the next
  std::string state_home;
  std::function<void(const std::string& spec)> on_spec = {};  // as in RunnerConfig
  Spawner* spawner = nullptr;                                 // the same
};

// What the kernel offers to commands under this policy. Runs the probe, which shows whether there
// are namespaces.
sandbox::KernelFeatures ObserveKernel(EngineParts parts, const Environment& environment);

// In which a server writes by its policy, beside its TMPDIRs.
std::vector<std::string> WrittenDirectories(const policy::Policy& policy,
                                            const std::string& state_home,
                                            const std::string& tmp_base);

class Engine {
 public:
  Engine(uv_loop_t* loop, EngineParts parts, const Environment& environment);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const policy::PolicyPtr& policy() const { return policy_; }
  // Why this one cannot be in force: commands could write the TMPDIR that was chosen at the start,
  // or it needs what the server has given up.
  Result<void> CheckPolicy(const policy::Policy& policy) const;
  // One that was checked.
  void ReplacePolicy(policy::PolicyPtr policy);
  // The directories in which the server writes; from now on it writes in no other. They are there,
  // as far as they can be made (WrittenDirectories).
  std::vector<std::string> GiveUpAllButOwn();
  // With a spawner, once, before the first call.
  void Follow() { runner_.Follow(policy_); }
  Runner& runner() { return runner_; }
  TargetCache& targets() { return targets_; }
  AuditLog& audit() { return audit_; }
  // `callback` runs when the targets of a directory are not those that were last seen there. From
  // now on the Makefiles of the roots and of all directories with known targets are watched; when
  // one is touched, its targets are discovered again. In a root whose targets nobody has asked for,
  // nothing is run but `callback`, if the Makefile's text is another one.
  void WhenTargetsChange(std::function<void()> callback);
  // `callback` runs whenever an output is kept as a result.
  void WhenResultsChange(std::function<void()> callback) {
    results_.WhenPublished(std::move(callback));
  }
  // `callback` runs for each result that has got longer, at most once in kGrowth.
  void WhenResultGrows(std::function<void(const std::string& uri)> callback);
  static constexpr std::chrono::milliseconds kGrowth{250};
  // From now on each mount and unmount renews what is kept for later calls, so that it neither
  // keeps an unmounted file system busy nor hides a new one.
  void FollowMounts();
  const Services& services() const { return services_; }
  // Restores the files of edits that a dead server left unfinished. If another server is doing
  // that, waits for it, for a minute at most. Calls wait until this is done. Removes result files
  // that have expired, too.
  void UndoEdits();
  // Implements pa::AfterStart (services.h): runs `work` after UndoEdits.
  Task<ToolResult> AfterStart(Task<ToolResult> work, std::string_view tool, CancelSource& cancel);
  // Cancels UndoEdits and shuts the runner down.
  void Shutdown(std::function<void()> done);

 private:
  // A call that the engine itself makes.
  struct OwnCall {
    CancelSource cancel;
    std::optional<CallContext> context;
  };
  std::shared_ptr<OwnCall> NewOwnCall();
  void DiscoverAgain(const std::string& directory);
  Task<bool> RestoreEdits(CallContext& call);
  Task<bool> MayBegin(CancelSource& cancel);
  void WatchRoots();
  Task<bool> IsAnotherMakefile(std::string directory);
  // What the Makefile of a root is when the watch begins.
  Task<bool> LearnMakefile(std::string root);
  // Once, with the first call: the janitor looks, and a server without calls has none.
  void WarnOfSharedFiles();

  uv_loop_t* loop_;
  const Environment& environment_;
  policy::PolicyPtr policy_;
  std::optional<MakefileWatch> watch_;
  std::map<std::string, std::string> makefiles_;  // root -> what its Makefile was
  bool looked_for_shared_ = false;
  std::optional<MountTable> mounts_;
  std::function<void()> on_targets_;
  std::string tmp_base_;
  // Nothing: it can write wherever its user can.
  std::optional<std::vector<std::string>> own_;
  bool ports_ = false;  // likewise: it can serve ports of jobs
  ResultStore results_;
  TimerHandle growing_;
  TimerHandle learning_;         // keeps no loop running
  std::set<std::string> grown_;  // since it was told last
  Jobs jobs_;
  ResultFiles result_files_;
  Runner runner_;
  TargetCache targets_;
  AuditLog audit_;
  OutputGate start_;
  std::shared_ptr<OwnCall> start_call_;  // of UndoEdits; null: not called
  CallRate rate_;
  CallCounts counts_;
  Services services_;
};

}  // namespace pa
