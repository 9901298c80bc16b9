// git_commit: commits what is staged. Commit is for project_actions, too.
#pragma once

#include "supervisor/tools/work.h"

namespace pa {

extern const Tool kGitCommit;

Task<ToolResult> Commit(Work work, std::string message, CallContext& call);

}  // namespace pa
