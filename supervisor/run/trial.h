// Trial: observes by trying what this machine enforces: whether the sandbox of a policy denies what
// it must, before the policy's first command, and whether namespaces are granted. "Enforced" is
// observed, not assumed.
//
//    Trial trial({.run = ..., .canary = ..., .given_up = ...});
//    Task<std::optional<Execution>> task = trial.Observe(plan, allow, policy, cancel);
//    // Nothing: everything was denied, so the command may run.
//    std::optional<Execution> refused = co_await task;
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
    // A file for the probe to try to read; "" = there is nothing to try under this confinement.
    std::function<Result<std::string>(const sandbox::Confinement& confinement)> canary;
    // Whether nobody waits for the command of `cancel` any more.
    std::function<bool(const CancelSource* cancel)> given_up;
  };
  explicit Trial(Means means) : means_(std::move(means)) {}
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  bool HasSeen(const policy::PolicyPtr& policy) const { return probed_ == policy; }
  // Why the first command of this policy must not run; nothing if every attempt was denied. Calls
  // that come during a probe wait for it and share its result, because each probe may take as long
  // as a launcher that does not answer. Calls that come later probe again.
  Task<std::optional<Execution>> Observe(const CommandPlan& plan, const policy::Allow& allow,
                                         policy::PolicyPtr policy, CancelSource* cancel);
  // Probes now. As Runner::Probe.
  Task<Execution> Probe(const policy::WorkingDirectory& directory, const policy::Allow& allow,
                        policy::PolicyPtr policy, CancelSource* cancel);
  void RefuseAll() { probing_.RefuseAll(); }  // calls that wait for a probe

  bool UsesNamespaces(const policy::Allow& allow) const;
  const std::string& no_namespaces() const { return no_namespaces_; }
  // Says nothing about cgroups.
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
  std::uint64_t probes_ = 0;                 // number of probes that have begun
  std::optional<FailedProbe> failed_probe_;  // the last one, if it concerns other calls
  bool namespaces_seen_ = false;
  std::string no_namespaces_;                      // why there are none; "" if none were refused
  std::optional<sandbox::KernelFeatures> kernel_;  // probed once: it does not change
};

}  // namespace pa
