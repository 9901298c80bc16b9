// TreeGuard: makes sure that a command leaves protected things as they are in the trees that it can
// write: protected paths, and the repositories below its working directory. It works from right
// before the command starts to the end of its process tree.
//
//    const std::optional<Writers::Writer> work = tree.Enter(plan);
//    Task<ProtectedOr<TreeGuard::Found>> looking =
//        tree.Look(plan, allow, policy, namespaces, cancel, given_up);
//    ProtectedOr<TreeGuard::Found> found = co_await looking;
//    if (auto refused = TreeGuard::Refusal(*found, ...)) co_return *std::move(refused);
//    const TreeGuard::Watching watching = tree.Start(*found);
//    ... the command runs, with TreeGuard::Mounts(...) ...
//    // Restores, and records the changes in `execution`.
//    Task<bool> comparing = tree.Compare(std::move(*found), execution);
#pragma once

#include <uv.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "policy/decide.h"
#include "policy/policy.h"
#include "sandbox/confinement.h"
#include "supervisor/guard/nested_repositories.h"
#include "supervisor/guard/protected_mounts.h"
#include "supervisor/guard/protected_paths_guard.h"
#include "supervisor/guard/writers.h"
#include "supervisor/loop/cancel_source.h"
#include "supervisor/loop/give_up.h"
#include "supervisor/loop/task.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/run/command_plan.h"
#include "supervisor/run/execution.h"

namespace pa {

// What to report if there was no memory to compare: nobody knows what became of `path`.
std::vector<ProtectedChange> NotCompared(const std::string& path);

class TreeGuard {
 public:
  // The state right before the command starts. Both watches null: there is nothing to protect.
  struct Found {
    NestedRepositories::Watch below = nullptr;
    ProtectedPathsGuard::Watch watch = nullptr;
    std::vector<SealedPath> sealed = {};  // by mounts that only this command has
  };
  // While it lives, a protected file that the user saves is read at once, before a command can
  // change it.
  class Watching {
   public:
    explicit Watching(TreeGuard* tree) : tree_(tree) {}
    ~Watching() {
      if (tree_ != nullptr) tree_->StopWatching();
    }
    Watching(const Watching&) = delete;
    Watching& operator=(const Watching&) = delete;

   private:
    TreeGuard* tree_;  // null: nothing is watched
  };

  // `janitor`: borrowed. `state_home`: parent of the state directory, which holds the quarantine.
  TreeGuard(uv_loop_t* loop, Janitor& janitor, const std::string& state_home);
  TreeGuard(const TreeGuard&) = delete;
  TreeGuard& operator=(const TreeGuard&) = delete;

  // If the plan writes a file of the project: marks a file tool as at work while the result lives.
  // What commands move meanwhile counts as theirs (Writers).
  std::optional<Writers::Writer> Enter(const CommandPlan& plan);
  // Finds what has to be protected. `given_up`: nobody waits for the command already. An error: it
  // cannot be determined, so nothing may run.
  Task<ProtectedOr<Found>> Look(const CommandPlan& plan, const policy::Allow& allow,
                                policy::PolicyPtr policy, bool namespaces, CancelSource* cancel,
                                bool given_up);
  // Why the command must not run, because of what was found; nothing if it may.
  static std::optional<Execution> Refusal(Found& found, const CommandPlan& plan,
                                          const policy::Policy& policy, bool namespaces);
  static std::vector<sandbox::Mount> Mounts(const Found& found, const CommandPlan& plan,
                                            const policy::Allow& allow,
                                            const policy::Policy& policy, bool namespaces);
  Watching Start(const Found& found);
  // Call it when the command's tree is dead. It restores protected paths first, and judges new
  // repositories below after that.
  Task<bool> Compare(Found found, Execution& execution);

  void GiveUpLooks();  // the searches of Look that are under way
  void Close();        // closes its libuv handle

 private:
  Task<Result<NestedRepositories::Watch>> LookBelow(policy::WorkingDirectory directory,
                                                    policy::PolicyPtr policy, CancelSource* cancel,
                                                    bool given_up);
  void StopWatching();

  uv_loop_t* loop_;
  ProtectedPathsGuard guard_;
  std::optional<PollHandle> saves_;  // of the descriptor of guard_
  std::size_t watching_ = 0;         // number of Watching objects
  NestedRepositories nested_;
  Writers writers_;
  std::set<std::shared_ptr<GiveUp>> looks_;  // flags to give up LookBelow
};

}  // namespace pa
