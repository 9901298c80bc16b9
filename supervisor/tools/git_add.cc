#include "supervisor/tools/git_add.h"

#include "supervisor/call/tool_result.h"
#include "supervisor/tools/git.h"
#include "supervisor/tools/git_report.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/path_check.h"

namespace pa {
namespace {

constexpr Param kGitAddParams[] = {
    {.name = "paths",
     .kind = ParamKind::kStringArray,
     .required = true,
     .description = "Files or directories to stage, relative to working_directory. Literal: no "
                    "options, no wildcards, no pathspec magic.",
     .minimum = 1},
    kPlaceParam,
    kDryRunParam,
    kResultParam,
};

constexpr std::string_view kGitAddItems[] = {"staged", "stdout", "stderr"};

constexpr auto kGitAddData = With(
    kCommandData,
    {{.name = "staged",
      .kind = FieldKind::kObjectArray,
      .description = "all that the next commit will hold",
      .fields = kGitFileFields},
     {.name = "staged_omitted", .kind = FieldKind::kInteger, .description = "files not listed"}});

constexpr std::string_view kAddHooks[] = {"post-index-change"};

Task<ToolResult> RunGitAdd(ToolRequest request, CallContext& call) {
  auto work = StartWork(request, "", call);
  if (!work) co_return RefusedCall(std::move(work.error()));
  std::vector<std::string> paths = *request.arguments().Strings("paths");
  Task<ToolResult> task = StageFiles(std::move(*work), std::move(paths), call);
  ToolResult result = co_await task;
  co_return result;
}

}  // namespace

Task<ToolResult> StageFiles(Work work, std::vector<std::string> paths, CallContext& call) {
  // Before anything is looked at: a call that is refused is refused whatever lies in the directory.
  auto permission = Permit(work, call, policy::Purpose::kGit);
  if (!permission) co_return RefusedCall(std::move(permission.error()));
  for (const std::string& path : paths) {
    if (const auto why = WhyOutside(work.directory, path)) {
      co_return RefusedCall(InvalidPath(path, *why, true));
    }
  }
  Task<PreparedGit> preparation = PrepareGit(work, *std::move(permission), call);
  PreparedGit git = co_await preparation;
  if (!git) co_return RefusedCall(std::move(git.error()));
  GitCommand command{.what = "git add",
                     .argv = {"git", "--literal-pathspecs", "add", "--"},
                     .hooks = kAddHooks,
                     .tell = TellStaged};
  command.argv.insert(command.argv.end(), paths.begin(), paths.end());
  Task<ToolResult> task = RunGit(work, std::move(*git), std::move(command), call);
  ToolResult result = co_await task;
  co_return result;
}

const Tool kGitAdd = {
    .name = "git_add",
    .title = "Stage files",
    .description =
        "Stage files by relative path in one `git add`. Paths are literal: no options, no "
        "wildcards, no pathspec magic. Returns what is staged.",
    .annotations = {.idempotent = true},
    .params = kGitAddParams,
    .data = kGitAddData,
    .items = kGitAddItems,
    .run = RunGitAdd};

}  // namespace pa
