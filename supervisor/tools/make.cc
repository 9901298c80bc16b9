#include "supervisor/tools/make.h"

#include <algorithm>
#include <variant>

#include "supervisor/call/tool_result.h"
#include "supervisor/tools/dry_run.h"
#include "supervisor/tools/join_job.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/registry.h"
#include "supervisor/tools/render.h"
#include "supervisor/tools/run_build.h"
#include "supervisor/tools/target_discovery.h"

namespace pa {
namespace {

constexpr Param kMakeParams[] = {
    {.name = "target",
     .kind = ParamKind::kString,
     .required = true,
     .description = "One .PHONY target of the Makefile (make_targets lists them).",
     .pattern = "^[A-Za-z0-9_-]+$"},
    kWorkingDirectoryParam,
    kDryRunParam,
    kTimeoutParam,
    kGitWriteParam,
    kBackgroundParam,
    kJobParam,
    kPortsParam,
    kResultParam,
};

CommandReport ReportOf(const Work& work, std::vector<std::string> argv, std::string rule) {
  return {.what = "make " + work.operation,
          .argv = std::move(argv),
          .working_dir = work.directory.path(),
          .decision = std::move(rule),
          .job = work.job};
}

bool IsTarget(const TargetList& list, const std::string& name) {
  return std::ranges::find(list.targets, name, &Target::name) != list.targets.end();
}

ToolError NoSuchTarget(const std::string& name, const TargetList& list) {
  std::vector<std::string> names;
  for (const Target& target : list.targets) names.push_back(target.name);
  const auto refused = std::ranges::find(list.refused, name, &RefusedTarget::name);
  if (refused != list.refused.end()) return NameRefused(name, refused->reason, names);
  return InvalidTarget(name, names);
}

// What `make -n` prints comes from where make cannot change anything: -n still runs $(shell) and
// lines that name $(MAKE). There it has no network, not even that of a job.
Task<ToolResult> DryRun(const Work& work, CommandPlan plan, const policy::Permission& permission,
                        std::optional<std::chrono::milliseconds> timeout, CallContext& call) {
  Task<GitIdentity::Given> finding = call.runner.FindIdentity(call.policy);
  const GitIdentity::Given identity = co_await finding;
  const policy::Allow allow = permission.For(BuildNeeds(identity, timeout));
  if (!work.job.empty()) {
    Task<NetworkOr> joining = JoinJob(work.job, allow.confinement().network, call);
    const NetworkOr joined = co_await joining;
    if (!joined) co_return RefusedCall(joined.error());
  }
  policy::Allow inspect =
      permission.For({.purpose = policy::Purpose::kInspect, .timeout = timeout});
  AddCaches(work, call, plan.env);
  const CommandReport report = ReportOf(work, plan.argv, permission.rule());
  plan.argv.insert(plan.argv.begin() + 1, "-n");
  const CommandReport dry{.what = "make -n " + work.operation,
                          .argv = plan.argv,
                          .working_dir = report.working_dir,
                          .decision = report.decision};
  const RunOptions options{.name = dry.what, .cancel = &call.cancel, .record = &call.record.run};
  Task<Execution> task = call.runner.Run(std::move(plan), std::move(inspect), call.policy, options);
  const Execution run = co_await task;
  const bool ended = run.outcome == Outcome::kExited || run.outcome == Outcome::kSignaled;
  if (!ended) co_return RenderCommand(dry, run);
  ToolResult result =
      RenderDryRun(report, allow, call.runner.Kernel(), run.out.text + run.err.text);
  AddStreams(result, dry.what, run);
  if (ErrorOf(dry, run)) Warn(result, dry.what + ": " + HowItEnded(run));
  co_return result;
}

// Nobody is asked about a target that there is not. What tells is what make_targets tells
// everybody; where it may not, the user is asked all the same.
Task<ToolError> BeforeAsking(const Work& work, ToolError not_approved, CallContext& call) {
  const Work look{.tool = FindTool("make_targets"), .operation = "", .directory = work.directory};
  const policy::Decision decision = policy::Decide(
      *call.policy, {.tool = "make_targets", .directory = &look.directory, .read_only = true});
  const auto* permission = std::get_if<policy::Permission>(&decision);
  auto make = Require("make", work, call);
  if (permission == nullptr || !make) co_return not_approved;
  Task<DiscoveredTargets> discovery = DiscoverTargets(look, *permission, *make, call);
  const DiscoveredTargets targets = co_await discovery;
  if (!targets || IsTarget(*targets, work.operation)) co_return not_approved;
  co_return NoSuchTarget(work.operation, *targets);
}

// Why the target may not run, if anything.
Task<std::optional<ToolError>> RefuseTarget(const Work& work, const policy::Permission& permission,
                                            std::string make, CallContext& call) {
  Task<DiscoveredTargets> discovery = DiscoverTargets(work, permission, std::move(make), call);
  const DiscoveredTargets targets = co_await discovery;
  if (!targets) co_return targets.error();
  if (!IsTarget(*targets, work.operation)) co_return NoSuchTarget(work.operation, *targets);
  co_return std::nullopt;
}

// The plan to run a target that was there when the Makefile had this text.
void PlanBy(const RememberedTargets& remembered, CommandPlan& plan) {
  plan.file = remembered.list.makefile;
  plan.file_digest.assign(remembered.digest.begin(), remembered.digest.end());
}

Task<ToolResult> RunMake(ToolRequest request, CallContext& call) {
  auto work = StartWork(request, *request.arguments().String("target"), call);
  if (!work) co_return RefusedCall(std::move(work.error()));
  std::optional<std::chrono::milliseconds> timeout;
  if (const auto asked = request.arguments().Integer("timeout_ms")) timeout.emplace(*asked);
  Task<ToolResult> task = MakeTarget(std::move(*work), timeout, call);
  ToolResult result = co_await task;
  co_return result;
}

}  // namespace

Task<ToolResult> MakeTarget(Work work, std::optional<std::chrono::milliseconds> timeout,
                            CallContext& call) {
  // First of all, so that a call that is refused has run nothing, not even $(shell) of the
  // Makefile.
  auto permission = Permit(work, call, policy::Purpose::kBuild);
  if (!permission && permission.error().code == ErrorCode::kApprovalDeclined) {
    Task<ToolError> looking = BeforeAsking(work, std::move(permission.error()), call);
    ToolError error = co_await looking;
    co_return RefusedCall(std::move(error));
  }
  if (!permission) co_return RefusedCall(std::move(permission.error()));
  auto make = Require("make", work, call);
  if (!make) co_return RefusedCall(std::move(make.error()));
  CommandPlan plan{.executable = *make,
                   .argv = {"make", "--", work.operation},
                   .env = MakeEnvironment(call),
                   .directory = work.directory};
  const auto plan_again = [&] { return RefuseTarget(work, *permission, *make, call); };
  const auto remembered = work.dry_run ? std::nullopt : RememberTargets(work, *make, call);
  if (remembered && IsTarget(remembered->list, work.operation)) {
    PlanBy(*remembered, plan);
  } else {
    Task<std::optional<ToolError>> planning = plan_again();
    std::optional<ToolError> refused = co_await planning;
    if (refused) co_return RefusedCall(*std::move(refused));
  }
  if (work.dry_run) {
    Task<ToolResult> dry = DryRun(work, std::move(plan), *permission, timeout, call);
    ToolResult result = co_await dry;
    co_return result;
  }
  CommandReport report = ReportOf(work, plan.argv, permission->rule());
  Build build{.plan = std::move(plan),
              .report = std::move(report),
              .timeout = timeout,
              .plan_again = plan_again};
  Task<ToolResult> task = RunBuild(std::move(build), *permission, work, call);
  ToolResult result = co_await task;
  co_return result;
}

const Tool kMake = {
    .name = "make",
    .title = "Run make target",
    .description =
        "Run one .PHONY target of the project's Makefile, and nothing else, in a sandbox. dry_run "
        "shows the command, the sandbox and the output of `make -n`.",
    .annotations = {.destructive = true, .open_world = true},
    .params = kMakeParams,
    .data = kCommandData,
    .items = kCommandItems,
    .run = RunMake};

}  // namespace pa
