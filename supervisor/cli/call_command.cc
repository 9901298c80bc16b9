#include "supervisor/cli/call_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "base/file.h"
#include "base/json.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/cli/configuration.h"
#include "supervisor/cli/terminal_approver.h"
#include "supervisor/cli/terminal_view.h"
#include "supervisor/engine/dispatch.h"
#include "supervisor/engine/engine.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/loop.h"
#include "supervisor/text/quote_command.h"
#include "supervisor/text/visible_text.h"
#include "supervisor/tools/registry.h"

namespace pa {
namespace {

using Clock = std::chrono::steady_clock;

int ExitStatus(const ToolResult& result) {
  // Of the command, or of what had to be run before it.
  if (result.error && result.error->code == ErrorCode::kTimedOut) return kExitTimedOut;
  if (result.ending && result.ending->outcome == Outcome::kSignaled) {
    return 128 + result.ending->signal;
  }
  const bool exited = result.ending && result.ending->outcome == Outcome::kExited;
  if (exited && result.ending->exit_code != 0) return result.ending->exit_code;
  return result.error ? kExitRefused : 0;
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

// What was streamed is on the screen already; then only the summary is missing.
void Print(const ToolResult& result, TerminalView& view) {
  const bool failed = result.error.has_value();
  const bool streamed = view.saw_output();
  if (streamed) {
    view.Note(FirstLine(result.text), failed);
    for (const std::string& denial : result.denials) view.Note(denial, true);
  } else if (failed) {
    view.Note(FirstLine(result.text), true);
    view.OnOutput(Stream::kStderr, result.text.substr(FirstLine(result.text).size()) + "\n");
  } else {
    view.OnOutput(Stream::kStdout, result.text + (result.text.ends_with('\n') ? "" : "\n"));
  }
  for (const std::string& warning : result.warnings) {
    const bool printed = !streamed && result.text.contains(warning);
    if (!printed) view.Note("warning: " + warning, true);
  }
}

// How to take the line of policy that a denial suggests. The log has it unless it keeps nothing.
void PrintHint(const ToolResult& result, const CallCommand& command, bool in_log,
               TerminalView& view) {
  if (result.allow_with.empty()) return;
  const bool named = !in_log && result.allow_with.size() == 1;
  if (!in_log && !named) return;
  std::vector<std::string> words = {"project-actions", "policy", "allow",
                                    named ? result.allow_with.front() : kLastDenial};
  if (command.common.policy_file)
    words.insert(words.end(), {"--policy", *command.common.policy_file});
  const char* what =
      result.allow_with.size() == 1 ? "to allow it" : "to see the lines to choose from";
  view.Note(fmt::format("{}: {}", what, VisibleText(QuoteCommand(words))), false);
}

void PrintStructured(const ToolResult& result, std::chrono::microseconds took) {
  (void)WriteAll(STDOUT_FILENO, StructuredContent(result, took) + "\n");
}

// Options, environment or policy files; nothing was run.
ToolResult Misconfigured(const std::vector<std::string>& errors) {
  std::string message;
  for (const std::string& error : errors) message += (message.empty() ? "" : "; ") + error;
  return RefusedCall({.code = ErrorCode::kInvalidArgument,
                      .message = std::move(message),
                      .ai_message =
                          "The options or the policy of this command line are wrong, not the "
                          "tool's arguments. Nothing was run.",
                      .recoverable = false,
                      .details = ""});
}

ToolError NoJson(const Error& error) {
  return InvalidArgument("the arguments are no JSON: " + error.Message(),
                         R"(Write one JSON object in single quotes: '{"target":"test"}'.)");
}

// Runs the loop until `task` is done.
ToolResult Await(Task<ToolResult> task, Engine& engine, Loop& loop) {
  std::optional<ToolResult> result;
  Detach(std::move(task), [&](ToolResult done) {
    result = std::move(done);
    engine.Shutdown([] {});
  });
  loop.Run();
  return std::move(*result);
}

ToolResult Execute(const CallCommand& command, const Result<JsonValue>& arguments, Engine& engine,
                   Loop& loop, OutputSink* sink, Approver* approver) {
  CancelSource cancel;
  const auto stop = [&] { cancel.Cancel(); };
  SignalWatch interrupted(loop.get(), SIGINT, stop);
  SignalWatch terminated(loop.get(), SIGTERM, stop);
  const Services& services = engine.services();
  CallContext context = NewContext(services, cancel);
  context.sink = sink;
  context.approver = approver;
  CallOrder order{.caller = {.session = "", .endpoint = "command line"},
                  .tool = command.tool,
                  .arguments = arguments ? &*arguments : nullptr};
  if (!arguments) {
    return Await(Refuse(services, std::move(order), NoJson(arguments.error())), engine, loop);
  }
  engine.UndoEdits();
  return Await(Dispatch(services, std::move(order), context), engine, loop);
}

// The last command of a call is the one that people want to look at: make itself, not the
// discovery.
std::function<void(const std::string&)> SpecWriter(const std::string& path) {
  return [path](const std::string& spec) {
    const Result<UniqueFd> file = OpenRegular(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const Result<void> written = file ? WriteAll(file->get(), spec) : std::unexpected(file.error());
    if (!written) LogError(written.error().Message());
  };
}

}  // namespace

int RunCall(const CallCommand& command, const Environment& environment) {
  auto parts = LoadEngineParts(command.common, environment);
  if (!parts) {
    for (const std::string& line : parts.error()) LogError(line);
    if (command.json) PrintStructured(Misconfigured(parts.error()), {});
    return kExitRefused;
  }
  const auto begin = Clock::now();
  TerminalView view(STDOUT_FILENO, STDERR_FILENO);
  if (command.write_spec) parts->on_spec = SpecWriter(*command.write_spec);
  const bool in_log = !parts->policy->audit.path.empty();
  Loop loop;
  Engine engine(loop.get(), std::move(*parts), environment);
  const Result<JsonValue> arguments = ParseJson(command.arguments);
  // What `result` leaves of the output, or `return` makes of it, is printed at the end, in place of
  // the whole.
  const bool shaped = arguments && (arguments->FindSet("result") != nullptr ||
                                    arguments->FindSet("return") != nullptr);
  OutputSink* sink = command.json || shaped ? nullptr : &view;
  const bool attended = !command.json && isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0;
  TerminalApprover approver(loop.get(), STDIN_FILENO, STDERR_FILENO);
  const ToolResult result =
      Execute(command, arguments, engine, loop, sink, attended ? &approver : nullptr);
  if (command.json) {
    PrintStructured(result,
                    std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin));
  } else {
    Print(result, view);
    PrintHint(result, command, in_log, view);
  }
  return ExitStatus(result);
}

}  // namespace pa
