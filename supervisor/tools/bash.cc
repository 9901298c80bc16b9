#include "supervisor/tools/bash.h"

#include "base/utf8.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/run_build.h"

namespace pa {
namespace {

constexpr Param kBashParams[] = {
    {.name = "command",
     .kind = ParamKind::kString,
     .required = true,
     .description = "The program for bash; it may have several lines.",
     .maximum = kMaxArgument,
     .advice = "Nothing was run. Write the script to a file and run that, or pass the data that it "
               "works on as stdin.",
     .is_program = true},
    kWorkingDirectoryParam,
    kTimeoutParam,
    kGitWriteParam,
    kBackgroundParam,
    kJobParam,
    kPortsParam,
    {.name = "stdin",
     .kind = ParamKind::kString,
     .description = "Text for standard input. Default: empty."},
    kResultParam,
};

constexpr std::size_t kMaxShown = 200;  // of a command, as the name of a job

// -- because a command may begin with a dash.
std::vector<std::string> Argv(const std::string& command, const ShellProgram* shell) {
  if (shell == nullptr) return {"bash", "-c", "--", command};
  std::vector<std::string> argv = {"bash", "-c", "--", shell->program, "bash"};
  argv.insert(argv.end(), shell->values.begin(), shell->values.end());
  return argv;
}

Task<ToolResult> RunBash(ToolRequest request, CallContext& call) {
  const Arguments& arguments = request.arguments();
  const std::string& command = *arguments.String("command");
  if (command.find_first_not_of(" \t\r\n") == std::string::npos) {
    co_return RefusedCall(
        InvalidArgument("the argument 'command' is empty: expected a shell command",
                        "Pass a command line for bash."));
  }
  auto work = StartWork(request, "", call);
  if (!work) co_return RefusedCall(std::move(work.error()));
  std::optional<std::chrono::milliseconds> timeout;
  if (const auto asked = arguments.Integer("timeout_ms")) timeout.emplace(*asked);
  auto permission = Permit(*work, call, policy::Purpose::kBuild, {.command = command});
  if (!permission) co_return RefusedCall(std::move(permission.error()));
  auto bash = Require("bash", *work, call);
  if (!bash) co_return RefusedCall(std::move(bash.error()));
  CommandPlan plan{.executable = std::move(*bash),
                   .argv = Argv(command, call.shell),
                   .env = MakeEnvironment(call),
                   .directory = work->directory};
  if (const std::string* text = arguments.String("stdin")) plan.stdin_data = *text;
  CommandReport report{.what = "bash",
                       .argv = plan.argv,
                       .working_dir = work->directory.path(),
                       .decision = permission->rule(),
                       .shown = std::string(Utf8Prefix(command, kMaxShown))};
  Build build{.plan = std::move(plan), .report = std::move(report), .timeout = timeout};
  Task<ToolResult> task = RunBuild(std::move(build), *permission, *work, call);
  ToolResult result = co_await task;
  co_return result;
}

}  // namespace

const Tool kBash = {
    .name = "bash",
    .title = "Run command",
    .description =
        "Run a shell command in the sandbox: no network and nothing outside the project unless the "
        "policy allows it; no terminal. On a timeout the command is killed with everything it "
        "started, and its output so far is returned.",
    .annotations = {.destructive = true, .open_world = true},
    .params = kBashParams,
    .data = kCommandData,
    .items = kCommandItems,
    .run = RunBash};

}  // namespace pa
