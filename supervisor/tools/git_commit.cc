#include "supervisor/tools/git_commit.h"

#include "supervisor/call/tool_result.h"
#include "supervisor/tools/git.h"
#include "supervisor/tools/git_report.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/render.h"

namespace pa {
namespace {

constexpr Param kGitCommitParams[] = {
    {.name = "message",
     .kind = ParamKind::kString,
     .required = true,
     .description = "The commit message, stored byte for byte."},
    kPlaceParam,
    kDryRunParam,
    kResultParam,
};

constexpr std::string_view kGitCommitItems[] = {"files", "stdout", "stderr"};

constexpr auto kGitCommitData = With(
    kCommandData,
    {{.name = "hash", .description = "of the commit"},
     {.name = "branch", .description = "absent if HEAD is detached"},
     {.name = "files", .kind = FieldKind::kObjectArray, .fields = kGitFileFields},
     {.name = "files_omitted", .kind = FieldKind::kInteger, .description = "files not listed"}});

constexpr std::string_view kNotSigned =
    "the commit is not signed although git's commit.gpgsign asks for it: the policy's git.signing "
    "is off, its only value so far; to sign it, the user runs `git commit --amend --no-edit -S` "
    "outside the sandbox";

constexpr std::string_view kCommitHooks[] = {"pre-commit",        "prepare-commit-msg",
                                             "commit-msg",        "post-commit",
                                             "post-index-change", "reference-transaction"};

Task<ToolResult> RunGitCommit(ToolRequest request, CallContext& call) {
  auto work = StartWork(request, "", call);
  if (!work) co_return RefusedCall(std::move(work.error()));
  std::string message = *request.arguments().String("message");
  Task<ToolResult> task = Commit(std::move(*work), std::move(message), call);
  ToolResult result = co_await task;
  co_return result;
}

}  // namespace

// The message goes in on stdin: as an argument it could be read by everybody, and git would add a
// newline. Without --cleanup=verbatim git strips trailing blanks and lines that begin with '#'.
Task<ToolResult> Commit(Work work, std::string message, CallContext& call) {
  // Before anything is looked at: a call that is refused is refused whatever lies in the directory.
  auto permission = Permit(work, call, policy::Purpose::kGit);
  if (!permission) co_return RefusedCall(std::move(permission.error()));
  const std::uint64_t limit = call.policy->limits.commit_message;
  if (message.size() > limit) co_return RefusedCall(CommitTooLarge(limit, message.size()));
  Task<PreparedGit> preparation = PrepareGit(work, *std::move(permission), call);
  PreparedGit git = co_await preparation;
  if (!git) co_return RefusedCall(std::move(git.error()));
  GitCommand command{.what = "git commit",
                     .argv = {"git", "commit", "--file=-", "--cleanup=verbatim"},
                     .stdin_data = std::move(message),
                     .hooks = kCommitHooks,
                     .commits = true,
                     .tell = TellCommit};
  const bool wants_signature = git->wants_signatures;
  Task<ToolResult> task = RunGit(work, std::move(*git), std::move(command), call);
  ToolResult result = co_await task;
  if (wants_signature && !work.dry_run && !result.error) Warn(result, std::string(kNotSigned));
  co_return result;
}

const Tool kGitCommit = {
    .name = "git_commit",
    .title = "Commit",
    .description =
        "Commit the staged changes. The message is stored byte for byte (at most 16 KiB unless the "
        "policy says otherwise). Hooks run in the sandbox. Returns hash, branch and files.",
    .params = kGitCommitParams,
    .data = kGitCommitData,
    .items = kGitCommitItems,
    .run = RunGitCommit};

}  // namespace pa
