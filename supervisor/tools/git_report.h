// Tells what git_add and git_commit have done: which files are staged, which commit was made. git
// itself says so, in a second run that only reads (git_reader.h).
//
//    Task<ToolResult> task = TellStaged(work, reader, std::move(result), call);
#pragma once

#include <string>
#include <string_view>

#include "supervisor/call/result_schema.h"
#include "supervisor/tools/git_reader.h"
#include "supervisor/tools/params.h"

namespace pa {

inline constexpr std::size_t kMaxGitFiles = 100;  // of a result; the rest is counted

inline constexpr std::string_view kGitChanges[] = {"added", "modified", "deleted", "type changed",
                                                   "unmerged"};
inline constexpr ResultField kGitFileFields[] = {
    {.name = "path", .required = true, .description = "relative to working_directory"},
    {.name = "change", .required = true, .one_of = kGitChanges},
};

// Adds `staged` to the result of a command that succeeded, and the same to its text: what the next
// commit will hold. If git cannot tell, the result has a warning instead. `work`, `git` and the
// call must outlive the task.
Task<ToolResult> TellStaged(const Work& work, const GitReader& git, ToolResult result,
                            CallContext& call);
// The same of the commit that was made: `hash`, `branch` unless HEAD is detached, `files`.
Task<ToolResult> TellCommit(const Work& work, const GitReader& git, ToolResult result,
                            CallContext& call);

}  // namespace pa
