#include "supervisor/tools/run_build.h"

#include <expected>
#include <utility>
#include <vector>

#include "supervisor/tools/git_refresh.h"
#include "supervisor/tools/join_job.h"
#include "supervisor/tools/lfs_copy.h"
#include "supervisor/tools/reach_above.h"

namespace pa {
namespace {

// About failures that the sandbox brings about without refusing anything.
std::string AdviceOn(const Execution& run, const Work& work, sandbox::Network network,
                     const CallContext& call) {
  const std::string output = run.err.text + run.out.text;
  std::string advice = ReachesAbove(work, output);
  if (advice.empty() && work.job.empty()) advice = InAnotherNetwork(output, network, call);
  return advice;
}

using ExecutionOr = std::expected<Execution, ToolError>;

// Whatever was restored belongs to the call, also if it was before the plan was made again.
Task<ExecutionOr> RunPlan(Build& build, const policy::Allow& allow, const RunOptions& options,
                          CallContext& call) {
  Task<Execution> task = call.runner.Run(build.plan, allow, call.policy, options);
  Execution run = co_await task;
  if (!IsOutdated(run)) co_return run;
  Task<std::optional<ToolError>> planning = build.plan_again();
  std::optional<ToolError> refused = co_await planning;
  if (refused) co_return std::unexpected(*std::move(refused));
  build.plan.file.clear();
  build.plan.file_digest.clear();
  const std::vector<ProtectedChange> changes = std::move(run.protected_changes);
  Task<Execution> again = call.runner.Run(build.plan, allow, call.policy, options);
  run = co_await again;
  run.protected_changes.insert(run.protected_changes.begin(), changes.begin(), changes.end());
  co_return run;
}

}  // namespace

policy::Needs BuildNeeds(const GitIdentity::Given& identity,
                         std::optional<std::chrono::milliseconds> timeout) {
  policy::Needs needs{.purpose = policy::Purpose::kBuild, .timeout = timeout};
  if (!identity.directory.empty()) {
    needs.extra.push_back({identity.directory, sandbox::Access::kRead,
                           "name and email of the user for git", sandbox::Symlinks::kRefuse});
  }
  return needs;
}

Task<ToolResult> RunBuild(Build build, const policy::Permission& permission, const Work& work,
                          CallContext& call) {
  CommandPlan& plan = build.plan;
  CommandReport& report = build.report;
  const std::string no_cache = OpenCache(work, call, plan.env);
  // Where the policy lets a command commit, it commits in the name in which git_commit does.
  Task<GitIdentity::Given> finding = call.runner.FindIdentity(call.policy);
  const GitIdentity::Given identity = co_await finding;
  policy::Allow allow = permission.For(BuildNeeds(identity, build.timeout));
  if (!identity.directory.empty()) plan.env["GIT_CONFIG_GLOBAL"] = identity.File();
  policy::LimitRetries(*call.policy, plan.env);
  const auto confinement = allow.SharedConfinement();
  CommandNetwork network;
  if (!work.job.empty()) {
    Task<NetworkOr> joining = JoinJob(work.job, confinement->network, call);
    NetworkOr joined = co_await joining;
    if (!joined) co_return RefusedCall(std::move(joined.error()));
    network = *std::move(joined);
  }
  GitRefresh refresh(work, permission, allow, plan.argv, call);
  Task<bool> refreshing = refresh.Before();
  [[maybe_unused]] const bool fresh = co_await refreshing;
  LfsCopy lfs(work, refresh.git(), call);
  const RunOptions options{.name = report.what,
                           .sink = call.sink,
                           .cancel = &call.cancel,
                           .record = &call.record.run,
                           .watch_index = refresh.index(),
                           .overlay = lfs.Overlay(),
                           .can_do_without = true,
                           .network = std::move(network)};
  if (call.begins) call.begins(report.shown.empty() ? report.what : report.shown);
  Task<ExecutionOr> task = RunPlan(build, allow, options, call);
  ExecutionOr ran = co_await task;
  if (!ran) co_return RefusedCall(std::move(ran.error()));
  Execution& run = *ran;
  refresh.After(run);
  Task<std::string> taking = lfs.TakeOver();
  const std::string not_taken = co_await taking;
  run.Warn(not_taken);
  if (!run.Succeeded()) report.advice = AdviceOn(run, work, confinement->network, call);
  Task<std::vector<Denial>> denying =
      FindDenialsOf(run, policy::Purpose::kBuild, *confinement, work, call, report.argv.back());
  const std::vector<Denial> denials = co_await denying;
  ToolResult result = RenderCommand(report, run, denials);
  for (const std::string& warning : {no_cache, identity.warning}) {
    if (!warning.empty()) Warn(result, warning);
  }
  co_return result;
}

}  // namespace pa
