// Renders a finished command for the client: data, text, error, links.
//
//    co_return RenderCommand({.what = "make test", .argv = plan.argv, ...}, run);
//
// Text and data are each complete by themselves, because a client shows the model only one of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/call/tool_result.h"
#include "supervisor/denials/denials.h"
#include "supervisor/tools/work.h"

namespace pa {

// `1 file`, `2 files`.
std::string Count(std::uint64_t count, std::string_view noun);

// `exit code 2`, `killed by signal 9 (SIGKILL)`, `timed out`.
std::string HowItEnded(const Execution& run);

struct CommandReport {
  std::string what;  // `make test`
  std::vector<std::string> argv;
  std::string working_dir;
  std::string decision;       // Allow::rule()
  bool git = false;           // a failure is told in git's words,
  bool in_repository = true;  // and without a repository with what to do about that
  std::string advice;         // if it fails by itself: what to do about it; "" = nothing special
  std::string shown;          // what a job is called: `npm run dev`; "" = as `what`
  std::string job;            // the id of the job in whose network it runs; "" = in none
};
ToolResult RenderCommand(const CommandReport& report, const Execution& run,
                         std::span<const Denial> denials = {});

// Adds links to the stored streams of `what`, and says if something is left out.
void AddStreams(ToolResult& result, const std::string& what, const Execution& run);

// `100 bytes beyond LIMIT were not kept`; with a reason, which is another than the limit:
// `100 bytes were not kept: WHY`.
std::string NotKept(std::uint64_t bytes, std::string_view limit, const std::string& why);

// Adds the members of `object`, a JSON object that is not empty, to the data.
void AddData(ToolResult& result, std::string_view object);

// Adds a warning, to the warnings and to the text.
void Warn(ToolResult& result, std::string warning);

// Why a command did not succeed, or how it damaged protected paths; nothing if it did neither.
std::optional<ToolError> ErrorOf(const CommandReport& report, const Execution& run);

// For kSetupFailed: nothing ran.
ToolError SetupError(const Execution& run);

}  // namespace pa
