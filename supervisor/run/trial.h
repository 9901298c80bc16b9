// Trial: what was seen of this machine by trying: before the first command of a policy, whether its
// sandbox denies what it must; and whether there are namespaces. "Enforced" is observed, not
// assumed.
//
//   Trial trial({.run = ..., .canary = ..., .given_up = ...});
//   Task<std::optional<Execution>> task = trial.Observe(plan, allow, policy, cancel);
//   // nothing: all was denied, the command may run
//   std::optional<Execution> refused = co_await task;
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "policy/decide.h"
#include "policy/policy.h"
#include "sandbox/enforcement.h"
#include "supervisor/loop/cancel_source.h"
#include "supervisor/loop/run_queue.h"
#include "supervisor/loop/task.h"
#include "supervisor/run/command_plan.h"
#include "supervisor/run/execution.h"

namespace pa {

class Trial {
 public:
  struct Means {
    // Runs the probe of `plan` under `allow`.
    std::function<Task<Execution>(const CommandPlan& plan, const policy::Allow& allow,
                                  policy::PolicyPtr policy, bool namespaces, CancelSource* cancel)>
        run;
    // A file for it to try to read; "" = under this confinement there is nothing to try.
    std::function<Result<std::string>(const sandbox::Confinement& confinement)> canary;
    // Whether nobody waits for a command with this any more.
    std::function<bool(const CancelSource* cancel)> given_up;
  };
  explicit Trial(Means means) : means_(std::move(means)) {}
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  bool HasSeen(const policy::PolicyPtr& policy) const { return probed_ == policy; }
  // What stands in the way of the first command of this policy; nothing if all was denied. Who
  // comes meanwhile awaits that, and shares it: each may take as long as a launcher that does not
  // answer. Who comes later tries again.
  Task<std::optional<Execution>> Observe(const CommandPlan& plan, const policy::Allow& allow,
                                         policy::PolicyPtr policy, CancelSource* cancel);
  // Tries now; as Runner::Probe.
  Task<Execution> Probe(const policy::WorkingDirectory& directory, const policy::Allow& allow,
                        policy::PolicyPtr policy, CancelSource* cancel);
  void RefuseAll() { probing_.RefuseAll(); }  // who waits

  bool UsesNamespaces(const policy::Allow& allow) const;
  const std::string& no_namespaces() const { return no_namespaces_; }
  // But for cgroups.
  sandbox::KernelFeatures Kernel();

 private:
  Task<Execution> ProbeOnce(const CommandPlan& plan, const policy::Allow& allow,
                            policy::PolicyPtr policy, bool namespaces, CancelSource* cancel);

  struct FailedProbe {
    std::uint64_t number;
    std::weak_ptr<const policy::Policy> policy;
    Execution execution;
  };

  Means means_;
  policy::PolicyPtr probed_;                 // the policy whose confinement was seen to hold
  RunQueue probing_;                         // one at a time
  std::uint64_t probes_ = 0;                 // that have begun
  std::optional<FailedProbe> failed_probe_;  // the last, if it says something of others
  bool namespaces_seen_ = false;
  std::string no_namespaces_;  // why there are none; "" as long as nobody was refused any
  std::optional<sandbox::KernelFeatures> kernel_;  // as it was found first: it stays what it is
};

}  // namespace pa
