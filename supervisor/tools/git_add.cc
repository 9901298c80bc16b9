#include "supervisor/tools/git_add.h"

#include "supervisor/tools/params.h"

namespace pa {
namespace {

constexpr Param kParams[] = {
    {.name = "paths",
     .kind = ParamKind::kStringArray,
     .required = true,
     .description = "Files or directories to stage, relative to working_directory. Literal: no "
                    "options, no wildcards, no pathspec magic.",
     .minimum = 1},
    kWorkingDirectoryParam,
    kDryRunParam,
};

Task<ToolResult> Run(ToolRequest request, CallContext& call) {
  (void)request;
  (void)call;
  co_return ToolResult{};
}

}  // namespace

const Tool kGitAdd = {
    .name = "git_add",
    .title = "Stage files",
    .description =
        "Stage files by relative path in one `git add`. Paths are literal: no options, no "
        "wildcards, no pathspec magic.",
    .annotations = {.idempotent = true},
    .params = kParams,
    .data_schema = kCommandSchema,
    .run = Run};

}  // namespace pa
