// git_add: stages files. StageFiles is for project_actions, too.
#pragma once

#include "supervisor/tools/work.h"

namespace pa {

extern const Tool kGitAdd;

Task<ToolResult> StageFiles(Work work, std::vector<std::string> paths, CallContext& call);

}  // namespace pa
