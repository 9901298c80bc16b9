#include "supervisor/tools/make.h"

#include "supervisor/tools/params.h"

namespace pa {
namespace {

constexpr Param kParams[] = {
    {.name = "target",
     .kind = ParamKind::kString,
     .required = true,
     .description = "One .PHONY target of the Makefile (make_targets lists them).",
     .pattern = "^[A-Za-z0-9_-]+$"},
    kWorkingDirectoryParam,
    kDryRunParam,
    {.name = "timeout_ms",
     .kind = ParamKind::kInteger,
     .description = "End the run after this time; may only shorten the policy's limits.wall_time.",
     .minimum = 1},
};

Task<ToolResult> Run(ToolRequest request, CallContext& call) {
  (void)request;
  (void)call;
  co_return ToolResult{};
}

}  // namespace

const Tool kMake = {
    .name = "make",
    .title = "Run make target",
    .description =
        "Run one .PHONY target of the project's Makefile: `make -- TARGET`, nothing else, "
        "in a sandbox. dry_run shows the command, the sandbox and what `make -n` prints.",
    .annotations = {.destructive = true, .open_world = true},
    .params = kParams,
    .data_schema = kCommandSchema,
    .run = Run};

}  // namespace pa
