// RunBuild: runs a command with the rights of a build: makes the project's caches, runs it, renders
// the result.
//
//    Task<ToolResult> task = RunBuild(std::move(plan), std::move(*allow), report, work, call);
#pragma once

#include "supervisor/tools/render.h"
#include "supervisor/tools/work.h"

namespace pa {

// `allow`: for Purpose::kBuild.
Task<ToolResult> RunBuild(CommandPlan plan, policy::Allow allow, CommandReport report,
                          const Work& work, CallContext& call);

}  // namespace pa
