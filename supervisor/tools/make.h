// make: runs one .PHONY target of a Makefile. MakeTarget is for project_actions, too.
#pragma once

#include "supervisor/tools/work.h"

namespace pa {

extern const Tool kMake;

// `work.operation` is the target.
Task<ToolResult> MakeTarget(Work work, std::optional<std::chrono::milliseconds> timeout,
                            CallContext& call);

}  // namespace pa
