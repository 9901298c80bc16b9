// What a finished command becomes for the client: data, text, error, links.
//
//   co_return RenderCommand({.what = "make test", .argv = plan.argv, ...}, run);
//
// Text and data are each complete by themselves, because a client shows the model only one of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "supervisor/call/tool_result.h"
#include "supervisor/denials/denials.h"
#include "supervisor/tools/work.h"

namespace pa {

// `git commit --file=- 'a b'`: as a shell would need it written, for people to read. Nothing is
// ever run from this.
std::string QuoteCommand(std::span<const std::string> argv);

// `1 file`, `2 files`.
std::string Count(std::uint64_t count, std::string_view noun);

// `exit code 2`, `killed by signal 9 (SIGKILL)`, `timed out`.
std::string HowItEnded(const Execution& run);

struct CommandReport {
  std::string what;  // `make test`
  std::vector<std::string> argv;
  std::string working_dir;
  std::string decision;  // Allow::rule()
  bool git = false;      // a failure gets the hint about git
};
ToolResult RenderCommand(const CommandReport& report, const Execution& run,
                         std::span<const Denial> denials = {});

// Links to what was stored of the streams of `what`, and that something is left out.
void AddStreams(ToolResult& result, const std::string& what, const Execution& run);

// Adds to the warnings and to the text.
void Warn(ToolResult& result, std::string warning);

// Why a command did not succeed; nothing when it exited with 0.
std::optional<ToolError> ErrorOf(const CommandReport& report, const Execution& run);

// kSetupFailed: nothing ran.
ToolError SetupError(const Execution& run);

}  // namespace pa
