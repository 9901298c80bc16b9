#include "supervisor/tools/git_commit.h"

#include "supervisor/tools/params.h"

namespace pa {
namespace {

constexpr Param kParams[] = {
    {.name = "message",
     .kind = ParamKind::kString,
     .required = true,
     .description = "The commit message, stored byte for byte."},
    kWorkingDirectoryParam,
    kDryRunParam,
};

Task<ToolResult> Run(ToolRequest request, CallContext& call) {
  (void)request;
  (void)call;
  co_return ToolResult{};
}

}  // namespace

const Tool kGitCommit = {
    .name = "git_commit",
    .title = "Commit",
    .description =
        "Commit what is staged. The message is stored byte for byte (at most 16 KiB unless "
        "the policy says otherwise). Hooks run in the sandbox.",
    .params = kParams,
    .data_schema = kCommandSchema,
    .run = Run};

}  // namespace pa
