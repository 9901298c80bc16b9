#include "supervisor/tools/git_reader.h"

#include "supervisor/tools/render.h"

namespace pa {

std::vector<sandbox::PathGrant> RepositoryGrants(const Work& work, const GitReader& git) {
  std::vector<sandbox::PathGrant> grants = git.repository;
  grants.push_back({work.directory.path(), sandbox::Access::kRead, "working directory",
                    sandbox::Symlinks::kRefuse});
  return grants;
}

Task<Execution> RunGitReader(const Work& work, const GitReader& git, GitReading reading,
                             OutputSink& sink, CallContext& call, bool in_turn) {
  CommandPlan plan{.executable = git.executable,
                   .argv = std::move(reading.argv),
                   .env = std::move(reading.more),
                   .directory = work.directory};
  plan.env.insert(git.environment.begin(), git.environment.end());
  policy::Allow allow = git.permission.For(
      {.purpose = policy::Purpose::kGitIdentity, .extra = std::move(reading.grants)});
  const RunOptions options{.sink = &sink,
                           .cancel = in_turn ? nullptr : &call.cancel,
                           .capture = false,
                           .record = &call.record.run,
                           .in_turn = in_turn};
  Task<Execution> task = call.runner.Run(std::move(plan), std::move(allow), call.policy, options);
  Execution run = co_await task;
  co_return run;
}

std::optional<ToolError> ErrorOfGitReader(std::string what, const Execution& run,
                                          const std::string& complaints, int most) {
  if (run.outcome == Outcome::kExited && run.exit_code <= most) return std::nullopt;
  Execution told = run;
  told.err.text = complaints;
  return ErrorOf({.what = std::move(what), .argv = {}, .working_dir = "", .git = true}, told);
}

}  // namespace pa
