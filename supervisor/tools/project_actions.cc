#include "supervisor/tools/project_actions.h"

#include <fmt/format.h>

#include "supervisor/call/tool_result.h"
#include "supervisor/tools/git_add.h"
#include "supervisor/tools/git_commit.h"
#include "supervisor/tools/make.h"
#include "supervisor/tools/makefile_generate.h"
#include "supervisor/tools/params.h"

namespace pa {
namespace {

constexpr Param kProjectActionsParams[] = {
    {.name = "operation",
     .kind = ParamKind::kString,
     .required = true,
     .description = "`add` stages paths, `commit` commits the staged changes with message, "
                    "`generate` writes a Makefile for language; any other word is the .PHONY "
                    "target to make."},
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
    kResultParam,
};

// All that it returns stands in the tables of the tools that it stands for.
constexpr std::string_view kProjectActionsItems[] = {"stdout", "stderr", "json", "staged", "files"};

constexpr ResultField kProjectActionsData[] = {
    {.name = "command", .required = true},
    {.name = "working_dir", .required = true},
    {.name = "denials", .kind = FieldKind::kObjectArray},
    {.name = "staged", .kind = FieldKind::kObjectArray},
    {.name = "files", .kind = FieldKind::kObjectArray},
};

// What each operation takes beside working_directory and dry_run; every other word is a make
// target.
struct Operation {
  std::string_view name;
  std::string_view argument;
  bool required;
};
constexpr Operation kOperations[] = {
    {"add", "paths", true}, {"commit", "message", true}, {"generate", "language", false}};

bool Holds(const Arguments& arguments, std::string_view name) {
  return arguments.String(name) != nullptr || arguments.Strings(name) != nullptr;
}

// An argument that the operation does not take would be ignored, and the model would not learn it.
std::optional<ToolError> CheckArguments(const Arguments& arguments, const std::string& operation) {
  for (const Operation& one : kOperations) {
    const bool given = Holds(arguments, one.argument);
    if (one.name == operation) {
      if (given || !one.required) continue;
      return InvalidArgument(
          fmt::format("{}: required by operation '{}', but absent", one.argument, operation),
          fmt::format("Pass {} with operation '{}'.", one.argument, operation));
    }
    if (given) {
      return InvalidArgument(
          fmt::format("{}: belongs to operation '{}', not to '{}'", one.argument, one.name,
                      operation),
          fmt::format("Leave {} out, or call operation '{}'.", one.argument, one.name));
    }
  }
  return std::nullopt;
}

Task<ToolResult> RunOperation(const ToolRequest& request, Work work, CallContext& call) {
  const Arguments& arguments = request.arguments();
  if (work.operation == "add") {
    std::vector<std::string> paths = *arguments.Strings("paths");
    return StageFiles(std::move(work), std::move(paths), call);
  }
  if (work.operation == "commit") {
    std::string message = *arguments.String("message");
    return Commit(std::move(work), std::move(message), call);
  }
  if (work.operation == "generate") {
    const std::string* language = arguments.String("language");
    return GenerateMakefile(std::move(work), language == nullptr ? "" : *language, call);
  }
  return MakeTarget(std::move(work), std::nullopt, call);
}

Task<ToolResult> RunProjectActions(ToolRequest request, CallContext& call) {
  const std::string operation = *request.arguments().String("operation");
  if (auto error = CheckArguments(request.arguments(), operation)) {
    co_return RefusedCall(std::move(*error));
  }
  auto work = StartWork(request, operation, call);
  if (!work) co_return RefusedCall(std::move(work.error()));
  Task<ToolResult> task = RunOperation(request, std::move(*work), call);
  ToolResult result = co_await task;
  co_return result;
}

}  // namespace

const Tool kProjectActions = {
    .name = "project_actions",
    .title = "Project actions",
    .description =
        "Run a .PHONY make target, stage files, commit or generate a Makefile: one tool "
        "for all, chosen by operation.",
    .annotations = {.destructive = true, .open_world = true},
    .params = kProjectActionsParams,
    .data = kProjectActionsData,
    .items = kProjectActionsItems,
    .run = RunProjectActions};

}  // namespace pa
