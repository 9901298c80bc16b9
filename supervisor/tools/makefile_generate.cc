#include "supervisor/tools/makefile_generate.h"

#include "supervisor/tools/params.h"

namespace pa {
namespace {

constexpr Param kParams[] = {kLanguageParam, kWorkingDirectoryParam, kDryRunParam};

constexpr std::string_view kDataSchema =
    R"({"type":"object","properties":{"makefile":{"type":"string"},)"
    R"("language":{"type":"string"},"content":{"type":"string"},)"
    R"("targets":{"type":"array","items":{"type":"string"}},)"
    R"("command":{"type":"string"},"working_dir":{"type":"string"},)"
    R"("argv":{"type":"array","items":{"type":"string"}},"would_print":{"type":"string"},)"
    R"("confinement":{"type":"object"}},"required":["command","working_dir"]})";

Task<ToolResult> Run(ToolRequest request, CallContext& call) {
  (void)request;
  (void)call;
  co_return ToolResult{};
}

}  // namespace

const Tool kMakefileGenerate = {
    .name = "makefile_generate",
    .title = "Generate Makefile",
    .description =
        "Write a starter Makefile (default, fix, format, lint, test; build for rust and "
        "go). Never replaces one that exists.",
    .params = kParams,
    .data_schema = kDataSchema,
    .run = Run};

}  // namespace pa
