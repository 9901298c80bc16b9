// TreeGuard: what a command must leave as it is in the trees that it can write: protected paths,
// and the repositories below its directory. From right before it starts to the end of its process
// tree.
//
//   const std::optional<Writers::Writer> work = tree.Enter(plan);
//   Task<ProtectedOr<TreeGuard::Found>> looking = tree.Look(plan, allow, policy, namespaces,
//       cancel, given_up);
//   ProtectedOr<TreeGuard::Found> found = co_await looking;
//   if (auto refused = TreeGuard::Refusal(*found, plan)) co_return *std::move(refused);
//   const TreeGuard::Watching watching = tree.Start(*found);
//   ... it runs, with TreeGuard::Mounts(...) ...
//   // puts back, and notes in `execution`
//   Task<bool> comparing = tree.Compare(std::move(*found), execution);
#pragma once

#include <uv.h>

#include <atomic>
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
#include "supervisor/loop/task.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/run/command_plan.h"
#include "supervisor/run/execution.h"

namespace pa {

// Where there is no memory to compare, nobody knows what has become of it.
std::vector<ProtectedChange> NotCompared(const std::string& path);

class TreeGuard {
 public:
  // As it was right before the command starts. Both null: there is nothing to look after.
  struct Found {
    NestedRepositories::Watch below = nullptr;
    ProtectedPathsGuard::Watch watch = nullptr;
    std::vector<SealedPath> sealed = {};  // by mounts of the command's own
  };
  // As long as it lives, what the user saves is looked at right away, before a command can change
  // it.
  class Watching {
   public:
    explicit Watching(TreeGuard* tree) : tree_(tree) {}
    ~Watching() {
      if (tree_ != nullptr) tree_->StopWatching();
    }
    Watching(const Watching&) = delete;
    Watching& operator=(const Watching&) = delete;

   private:
    TreeGuard* tree_;  // null: there is nothing to look at
  };

  // `state_home`: where what is taken away is kept.
  TreeGuard(uv_loop_t* loop, const std::string& state_home);
  TreeGuard(const TreeGuard&) = delete;
  TreeGuard& operator=(const TreeGuard&) = delete;

  // A file tool is at work until it ends: what commands move meanwhile counts as theirs (Writers).
  std::optional<Writers::Writer> Enter(const CommandPlan& plan);
  // `given_up`: nobody waits for it from the beginning. An error: it cannot be known, so nothing
  // may run.
  Task<ProtectedOr<Found>> Look(const CommandPlan& plan, const policy::Allow& allow,
                                policy::PolicyPtr policy, bool namespaces, CancelSource* cancel,
                                bool given_up);
  // What was found stands in the way of the command.
  static std::optional<Execution> Refusal(Found& found, const CommandPlan& plan);
  static std::vector<sandbox::Mount> Mounts(const Found& found, const CommandPlan& plan,
                                            const policy::Allow& allow,
                                            const policy::Policy& policy, bool namespaces);
  Watching Start(const Found& found);
  // When the command's tree is dead. What the guard brings back is there before what is new below
  // is judged.
  Task<bool> Compare(Found found, Execution& execution);

  void GiveUpLooks();  // those that are under way
  void Close();        // frees its handle

 private:
  Task<NestedRepositories::Watch> LookBelow(policy::WorkingDirectory directory,
                                            policy::PolicyPtr policy, CancelSource* cancel,
                                            bool given_up);
  void StopWatching();

  uv_loop_t* loop_;
  ProtectedPathsGuard guard_;
  std::optional<PollHandle> saves_;  // of its descriptor
  std::size_t watching_ = 0;         // commands that it looks after
  NestedRepositories nested_;
  Writers writers_;
  std::set<std::shared_ptr<std::atomic<bool>>> looks_;  // below working directories, for commands
};

}  // namespace pa
