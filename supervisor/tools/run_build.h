// RunBuild: runs a command with the rights of a build: makes the project's caches, runs it, renders
// the result.
//
//    Build build{.plan = std::move(plan), .report = report, .timeout = timeout};
//    Task<ToolResult> task = RunBuild(std::move(build), *permission, work, call);
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "supervisor/state/git_identity.h"
#include "supervisor/tools/render.h"
#include "supervisor/tools/work.h"

namespace pa {

// What a build needs: with the configuration that names who commits, where there is one.
policy::Needs BuildNeeds(const GitIdentity::Given& identity,
                         std::optional<std::chrono::milliseconds> timeout);

struct Build {
  CommandPlan plan;
  CommandReport report;
  std::optional<std::chrono::milliseconds> timeout;
  // If the plan is outdated (CommandPlan::file_digest): why the command may not run, or nothing,
  // and it runs whatever is in the file.
  std::function<Task<std::optional<ToolError>>()> plan_again = {};
};

// `permission` and `work` must outlive the task.
Task<ToolResult> RunBuild(Build build, const policy::Permission& permission, const Work& work,
                          CallContext& call);

}  // namespace pa
