#include "supervisor/tools/make_targets.h"

#include "supervisor/tools/params.h"

namespace pa {
namespace {

constexpr Param kParams[] = {kWorkingDirectoryParam};

constexpr std::string_view kDataSchema =
    R"({"type":"object","properties":{"makefile":{"type":"string"},)"
    R"("targets":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},)"
    R"("description":{"type":"string"}},"required":["name"]}},)"
    R"("refused":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},)"
    R"("reason":{"type":"string"}},"required":["name","reason"]}}},)"
    R"("required":["makefile","targets","refused"]})";

Task<ToolResult> Run(ToolRequest request, CallContext& call) {
  (void)request;
  (void)call;
  co_return ToolResult{};
}

}  // namespace

const Tool kMakeTargets = {
    .name = "make_targets",
    .title = "List make targets",
    .description =
        "List the .PHONY targets that make can run here, with their descriptions, and the "
        "targets refused by name. The Makefile is evaluated in a sandbox that cannot "
        "change the project.",
    .annotations = {.read_only = true, .idempotent = true},
    .params = kParams,
    .data_schema = kDataSchema,
    .run = Run};

}  // namespace pa
