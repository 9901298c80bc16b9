// RunBuild: runs a command with the rights of a build: makes the project's caches, runs it, renders
// the result.
//
//    Task<ToolResult> task = RunBuild(std::move(plan), *permission, timeout, report, work, call);
#pragma once

#include <chrono>
#include <optional>

#include "supervisor/state/git_identity.h"
#include "supervisor/tools/render.h"
#include "supervisor/tools/work.h"

namespace pa {

// What a build needs: with the configuration that names who commits, where there is one.
policy::Needs BuildNeeds(const GitIdentity::Given& identity,
                         std::optional<std::chrono::milliseconds> timeout);

// `permission` must outlive the task.
Task<ToolResult> RunBuild(CommandPlan plan, const policy::Permission& permission,
                          std::optional<std::chrono::milliseconds> timeout, CommandReport report,
                          const Work& work, CallContext& call);

}  // namespace pa
