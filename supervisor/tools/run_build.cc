#include "supervisor/tools/run_build.h"

#include "supervisor/state/project_cache.h"
#include "supervisor/tools/reach_above.h"

namespace pa {
namespace {

// Without a cache many builds succeed all the same, so that is no failure: "" or what to warn of.
std::string OpenCache(const Work& work, const CallContext& call, CommandPlan& plan) {
  const std::string& directory = work.directory.path();
  const Result<void> made = MakeProjectCache(call.policy->caches, directory);
  if (!made) return "toolchains have no cache to write: " + made.error().Message();
  AddCaches(work, call, plan.env);
  return "";
}

}  // namespace

Task<ToolResult> RunBuild(CommandPlan plan, policy::Allow allow, CommandReport report,
                          const Work& work, CallContext& call) {
  const std::string no_cache = OpenCache(work, call, plan);
  policy::LimitRetries(*call.policy, plan.env);
  const auto confinement = allow.SharedConfinement();
  const RunOptions options{
      .name = report.what, .sink = call.sink, .cancel = &call.cancel, .record = &call.record.run};
  Task<Execution> task = call.runner.Run(std::move(plan), std::move(allow), call.policy, options);
  const Execution run = co_await task;
  if (!run.Succeeded()) report.advice = ReachesAbove(work, run.err.text + run.out.text);
  ToolResult result = RenderCommand(
      report, run,
      DenialsOf(run, policy::Purpose::kBuild, *confinement, work, call, report.argv.back()));
  if (!no_cache.empty()) Warn(result, no_cache);
  co_return result;
}

}  // namespace pa
