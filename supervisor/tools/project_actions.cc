#include "supervisor/tools/project_actions.h"

#include "supervisor/tools/params.h"

namespace pa {
namespace {

constexpr Param kParams[] = {
    {.name = "operation",
     .kind = ParamKind::kString,
     .required = true,
     .description = "`add` stages paths, `commit` commits what is staged with message, `generate` "
                    "writes a Makefile for language; any other word is the .PHONY target to make."},
    kWorkingDirectoryParam,
    {.name = "paths",
     .kind = ParamKind::kStringArray,
     .description = "With `add`: files or directories, relative to working_directory, literal.",
     .minimum = 1},
    {.name = "message",
     .kind = ParamKind::kString,
     .description = "With `commit`: the message, stored byte for byte."},
    kLanguageParam,
    kDryRunParam,
};

Task<ToolResult> Run(ToolRequest request, CallContext& call) {
  (void)request;
  (void)call;
  co_return ToolResult{};
}

}  // namespace

const Tool kProjectActions = {
    .name = "project_actions",
    .title = "Project actions",
    .description =
        "Run a .PHONY make target, stage files, commit or generate a Makefile: one tool "
        "for all, chosen by operation.",
    .annotations = {.destructive = true, .open_world = true},
    .params = kParams,
    .data_schema = R"({"type":"object","required":["command","working_dir"]})",
    .run = Run};

}  // namespace pa
