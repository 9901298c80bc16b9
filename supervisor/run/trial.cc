#include "supervisor/run/trial.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <utility>

#include "supervisor/loop/log.h"
#include "supervisor/loop/turn.h"
#include "worker/probe.h"

namespace pa {
namespace {

// A probe that did not come to its end has shown nothing.
Execution Unobserved(const Execution& probe) {
  Execution execution;
  execution.failed_step = worker::Step::kProbe;
  execution.failure =
      std::string("probe: nothing was tried, it ended as ") + OutcomeName(probe.outcome);
  return execution;
}

// Or one after which something was open.
Execution NotDenied(Execution probe) {
  if (probe.outcome != Outcome::kExited) return Unobserved(probe);
  const std::uint32_t open = probe.probe_tried & ~probe.probe_denied;
  probe.outcome = Outcome::kSetupFailed;
  probe.failed_step = worker::Step::kProbe;
  probe.failure = std::string("probe: the sandbox did not stop an attempt to ") +
                  worker::kProbeNames[std::countr_zero(open)];
  return probe;
}

// What was refused before there was a worker (NoLoopback, NoCpuLimit) is about that call alone.
bool ConcernsOthers(const Execution& failed) {
  return failed.failed_step == worker::Step::kProbe || failed.failed_errno != 0;
}

// What a system says that grants none (user_namespaces(7), unshare(2), AppArmor): ENOSPC and EUSERS
// where it allows none or no more of them. Want of memory or descriptors passes, and nobody shall
// bring it about to be confined less.
constexpr std::array kNotGranted = {EPERM,  EACCES, ENOSYS, EINVAL,    ENOSPC,
                                    EUSERS, ENOENT, ENODEV, EOPNOTSUPP};

// Only what was refused before there was an order says that namespaces are not to be had; a view
// that cannot be made for this order is its failure.
bool LacksNamespaces(const Execution& execution) {
  return execution.outcome == Outcome::kSetupFailed &&
         execution.failed_step == worker::Step::kNamespaces &&
         std::ranges::find(kNotGranted, execution.failed_errno) != kNotGranted.end();
}

}  // namespace

Task<Execution> Trial::Probe(const policy::WorkingDirectory& directory, const policy::Allow& allow,
                             policy::PolicyPtr policy, CancelSource* cancel) {
  const Result<std::string> canary = means_.canary(allow.confinement());
  if (!canary) co_return FailedToStart(canary.error());
  CommandPlan plan{.action = worker::Action::kProbe,
                   .executable = "",
                   .argv = {},
                   .env = {},
                   .directory = directory,
                   .stdin_data = std::nullopt,
                   .file = *canary};
  Execution nothing_to_try;
  nothing_to_try.outcome = Outcome::kExited;
  if (canary->empty()) co_return nothing_to_try;
  // What was refused to the policy before may be granted now; until that is seen, it is not.
  const bool namespaces = allow.confinement().namespaces != sandbox::Namespaces::kOff;
  Task<Execution> task = ProbeOnce(plan, allow, policy, namespaces, cancel);
  Execution execution = co_await task;
  namespaces_seen_ = namespaces && execution.outcome == Outcome::kExited;
  if (namespaces_seen_) no_namespaces_.clear();
  if (LacksNamespaces(execution)) {
    no_namespaces_ = execution.failure;
    if (allow.confinement().namespaces != sandbox::Namespaces::kAuto) co_return execution;
    LogWarning("namespaces are not granted here (" + no_namespaces_ +
               "): commands run with Landlock, seccomp and limits alone; `project-actions doctor` "
               "says what that means");
    Task<Execution> again = ProbeOnce(plan, allow, policy, false, cancel);
    execution = co_await again;
  }
  co_return execution;
}

Task<Execution> Trial::ProbeOnce(const CommandPlan& plan, const policy::Allow& allow,
                                 policy::PolicyPtr policy, bool namespaces, CancelSource* cancel) {
  Task<Execution> task = means_.run(plan, allow, policy, namespaces, cancel);
  Execution execution = co_await task;
  const bool tried = execution.outcome != Outcome::kExited || execution.probe_tried != 0;
  if (!tried) co_return Unobserved(execution);
  co_return execution;
}

Task<std::optional<Execution>> Trial::Observe(const CommandPlan& plan, const policy::Allow& allow,
                                              policy::PolicyPtr policy, CancelSource* cancel) {
  const std::uint64_t awaited = probing_.empty() ? probes_ + 1 : probes_;
  Turn turn(probing_, cancel, nullptr);
  if (!turn.Enter("", {.concurrent = 1, .waiting = UINT64_MAX})) co_return QueueIsFull();
  Completion<bool>& my_turn = turn.granted();
  const bool granted = co_await my_turn;
  if (!granted) co_return CancelledBeforeStart();
  if (probed_ == policy) co_return std::nullopt;
  const bool shares = failed_probe_ && failed_probe_->number >= awaited;
  if (shares && failed_probe_->policy.lock() == policy) co_return failed_probe_->execution;
  const std::uint64_t number = ++probes_;
  Task<Execution> task = Probe(plan.directory, allow, policy, cancel);
  Execution execution = co_await task;
  const bool ended = execution.outcome == Outcome::kExited;
  if (!ended && means_.given_up(cancel)) co_return CancelledBeforeStart();
  // Where there was nothing to try nothing was learnt: the next one may have something.
  if (ended && execution.probe_tried == 0) co_return std::nullopt;
  if (ended && (execution.probe_tried & ~execution.probe_denied) == 0) {
    probed_ = std::move(policy);
    co_return std::nullopt;
  }
  if (execution.outcome != Outcome::kSetupFailed) execution = NotDenied(std::move(execution));
  if (ConcernsOthers(execution)) failed_probe_ = {number, policy, execution};
  co_return execution;
}

bool Trial::UsesNamespaces(const policy::Allow& allow) const {
  const sandbox::Namespaces wanted = allow.confinement().namespaces;
  return wanted == sandbox::Namespaces::kRequire ||
         (wanted == sandbox::Namespaces::kAuto && no_namespaces_.empty());
}

sandbox::KernelFeatures Trial::Kernel() {
  using Granted = sandbox::KernelFeatures::Granted;
  if (!kernel_) kernel_ = sandbox::DetectKernel();
  sandbox::KernelFeatures kernel = *kernel_;
  if (namespaces_seen_) kernel.namespaces = Granted::kYes;
  if (!no_namespaces_.empty()) kernel.namespaces = Granted::kNo;
  kernel.no_namespaces = no_namespaces_;
  return kernel;
}

}  // namespace pa
