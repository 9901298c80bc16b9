#include "supervisor/call/tool_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/json_writer.h"
#include "base/units.h"
#include "base/utf8.h"
#include "supervisor/loop/log.h"

namespace pa {
namespace {

constexpr std::string_view kGitHint =
    "git command failed - you may need to run 'git init' or specify another directory";

}  // namespace

ToolError InvalidDirectory(const policy::DirectoryRefusal& refusal) {
  if (auto shortage = Shortage(refusal.message, refusal.code)) return *std::move(shortage);
  if (refusal.unread) {
    ToolError error = SandboxUnavailable(refusal.message);
    // If it was killed, doctor finds nothing.
    error.ai_message =
        "The process that reads git's files ended, or did not start. Call again. If it fails "
        "again, tell the user what the message says, and to run `project-actions doctor` where "
        "this server runs.";
    return error;
  }
  return {.code = ErrorCode::kInvalidDirectory,
          .message = refusal.message,
          .ai_message = refusal.ai_message};
}

ToolError Denied(const policy::Deny& deny) {
  return {.code = deny.tool_disabled ? ErrorCode::kToolDisabled : ErrorCode::kPolicyDenied,
          .message = deny.message,
          .ai_message = deny.ai_message};
}

ToolError InvalidArgument(std::string message, std::string ai_message) {
  return {.code = ErrorCode::kInvalidArgument,
          .message = std::move(message),
          .ai_message = std::move(ai_message)};
}

ToolError InvalidPath(std::string_view path, std::string_view why, bool with_directory) {
  return {.code = ErrorCode::kInvalidPath,
          .message = fmt::format("path escapes working directory: {} ({})", path, why),
          .ai_message =
              with_directory
                  ? "Pass paths relative to working_directory that stay inside it, also through "
                    "symlinks; or pass another working_directory."
                  : "Pass a path inside the project: relative to its root, or absolute; symlinks "
                    "must not lead out of it either."};
}

ToolError InvalidTarget(std::string_view target, std::span<const std::string> targets) {
  constexpr std::size_t kNamedInText = 50;
  JsonWriter details;
  details.BeginObject().Key("targets").BeginArray();
  for (const std::string& name : targets) details.String(name);
  details.EndArray().EndObject();
  const auto shown = targets.first(std::min(targets.size(), kNamedInText));
  ToolError error{
      .code = ErrorCode::kInvalidTarget,
      .message = fmt::format("target '{}' not found in Makefile .PHONY targets", target),
      .details = std::move(details).Take()};
  error.ai_message =
      targets.empty()
          ? "The Makefile declares no .PHONY target with a name of letters, digits, '_' and '-'. "
            "Declare the target with `.PHONY: NAME` to make it callable."
          : fmt::format(
                "Call one of: {}{}. To call another target, declare it with `.PHONY: NAME`.",
                fmt::join(shown, ", "), shown.size() < targets.size() ? ", ..." : "");
  return error;
}

ToolError NameRefused(std::string_view target, std::string_view reason,
                      std::span<const std::string> targets) {
  ToolError error = InvalidTarget(target, targets);
  error.ai_message = fmt::format(
      "It is declared .PHONY, but {}. Give it a second name in the Makefile (`.PHONY: NAME` and "
      "`NAME: {}`) and call that. {}",
      reason, target, targets.empty() ? "" : fmt::format("Or {}", error.ai_message));
  return error;
}

ToolError ToolNotFound(std::string_view program, std::string_view passed_over) {
  const std::string_view package = program == "rg" ? "ripgrep" : program;
  if (!passed_over.empty()) {
    return {
        .code = ErrorCode::kToolNotFound,
        .message = fmt::format("{} not found on PATH except {}, which is not used because commands "
                               "can write it - install {} elsewhere",
                               program, RepairUtf8(passed_over, true), package),
        .ai_message = fmt::format(
            "Tell the user that {} must be installed (for example: apt install {}) where no "
            "command can write; granting that place does not help. Commands in the sandbox still "
            "find it on their PATH.",
            package, package)};
  }
  return {.code = ErrorCode::kToolNotFound,
          .message = program == "git"
                         ? "git not found on PATH - install git to use git operations"
                         : fmt::format("{} not found on PATH - install {} to use this tool",
                                       program, package),
          .ai_message = fmt::format(
              "Tell the user that {} must be installed (for example: apt install {}) where this "
              "server runs; no call can do without it.",
              package, package)};
}

ToolError NotFound(std::string message, std::string ai_message) {
  return {.code = ErrorCode::kNotFound,
          .message = std::move(message),
          .ai_message = std::move(ai_message)};
}

ToolError BinaryFile(std::string_view path, std::string_view kind, std::uint64_t size) {
  ToolError error{.code = ErrorCode::kBinaryFile,
                  .message = fmt::format("{} is not a text file: {}, {} bytes", path, kind, size),
                  .ai_message =
                      "Do not read it as text. Only a program that knows such files can show its "
                      "content."};
  JsonWriter details;
  details.BeginObject().Field("kind", kind).Field("size", size).EndObject();
  error.details = std::move(details).Take();
  return error;
}

ToolError FileTooLarge(std::string_view path, std::uint64_t size, std::uint64_t limit) {
  ToolError error{.code = ErrorCode::kFileTooLarge,
                  .message = fmt::format("{} has {} bytes; the limit is {}", path, size, limit),
                  .ai_message = "Use a smaller file, or do without."};
  JsonWriter details;
  details.BeginObject().Field("size", size).Field("limit", limit).EndObject();
  error.details = std::move(details).Take();
  return error;
}

ToolError FileIo(std::string message, int code) {
  if (std::optional<ToolError> shortage = Shortage(message, code)) return *std::move(shortage);
  return {.code = ErrorCode::kFileIo,
          .message = std::move(message),
          .ai_message =
              "The system refused this, not the sandbox. Nothing was changed. Check the file's "
              "owner and mode, or tell the user what the message says."};
}

ToolError NotOnDisk(std::string message) {
  return {.code = ErrorCode::kFileIo,
          .message = std::move(message),
          .ai_message =
              "The change is made, but a power failure could still lose it. Do not repeat it; tell "
              "the user what the message says."};
}

ToolError StaleFile(std::string message, std::string ai_message, std::string_view present) {
  JsonWriter details;
  details.BeginObject().Field("sha256", present).EndObject();
  return {.code = ErrorCode::kStaleFile,
          .message = std::move(message),
          .ai_message = std::move(ai_message),
          .details = std::move(details).Take()};
}

ToolError NoMatch(std::size_t edit, std::string_view path, const std::optional<NearMatch>& near,
                  std::string_view nearest) {
  ToolError error{.code = ErrorCode::kNoMatch,
                  .message = fmt::format("edits[{}]: `old` does not occur in {}", edit, path),
                  .ai_message =
                      "Nothing was changed. Read the file again and pass the passage exactly as it "
                      "stands there, without line numbers."};
  JsonWriter details;
  details.BeginObject().Field("edit", edit).Field("path", path);
  if (near) {
    std::string kinds;
    details.Key("differences").BeginArray();
    for (const NearDifference& one : near->differences) {
      kinds.append(kinds.empty() ? "" : ", ").append(one.in);
      details.BeginObject().Field("in", one.in).Field("line", one.line);
      details.Field("column", one.column).Field("file", one.there).Field("old", one.asked);
      details.EndObject();
    }
    details.EndArray();
    error.message += fmt::format("; it is on line {} but for {}", near->line, kinds);
    if (near->count > 1) error.message += fmt::format(", and so in {} places", near->count);
    error.ai_message +=
        fmt::format(" The first differences: {}.", DescribeDifferences(*near, "`old`"));
  }
  if (!nearest.empty()) {
    error.ai_message += fmt::format(" The nearest passage:\n{}", nearest);
    details.Field("nearest", nearest);
  }
  details.EndObject();
  error.details = std::move(details).Take();
  return error;
}

ToolError AmbiguousMatch(std::size_t edit, std::string_view path, std::uint64_t count,
                         std::span<const std::uint64_t> lines) {
  ToolError error{
      .code = ErrorCode::kAmbiguousMatch,
      .message = fmt::format("edits[{}]: `old` occurs in {} {} times, on lines {}{}", edit, path,
                             count, fmt::join(lines, ", "), lines.size() < count ? ", ..." : ""),
      .ai_message =
          "Nothing was changed. Pass more context around the intended passage, or replace_all: "
          "true for all of them."};
  JsonWriter details;
  details.BeginObject().Field("edit", edit).Field("path", path).Field("count", count);
  details.Key("lines").BeginArray();
  for (const std::uint64_t line : lines) details.Raw(std::to_string(line));
  details.EndArray().EndObject();
  error.details = std::move(details).Take();
  return error;
}

ToolError ProtectedFile(std::string_view path, std::string_view protection) {
  return {
      .code = ErrorCode::kPolicyDenied,
      .message = fmt::format("{} is protected: {}", path, protection),
      .ai_message =
          "Do not retry this call or use another tool: only the user may change files that git "
          "or the user's programs execute. Tell the user what should be written there, and why."};
}

ToolError CommitTooLarge(std::uint64_t limit_bytes, std::uint64_t message_bytes) {
  const bool whole = limit_bytes % 1024 == 0;
  const std::string limit =
      whole ? fmt::format("{} KB", limit_bytes / 1024) : fmt::format("{} bytes", limit_bytes);
  return {.code = ErrorCode::kCommitTooLarge,
          .message = fmt::format("commit message exceeds {} limit (use "
                                 "PROJECT_ACTIONS_MAX_COMMIT_SIZE to adjust)",
                                 limit),
          .ai_message = fmt::format(
              "The message has {} bytes and {} are allowed. Shorten it and commit again. "
              "The variable takes bytes, or a number with a unit: 32KiB.",
              message_bytes, limit_bytes)};
}

namespace {

// Nobody knows when a running call will end.
constexpr std::chrono::milliseconds kBusyPause{1000};

std::string RetryAfter(std::chrono::milliseconds wait) {
  JsonWriter w;
  w.BeginObject().Field("retry_after_ms", std::int64_t{wait.count()}).EndObject();
  return std::move(w).Take();
}

}  // namespace

ToolError Busy() {
  return {.code = ErrorCode::kBusy,
          .message = "too many calls are waiting already; this one was not run",
          .ai_message = "Wait for a running call to finish, then call again.",
          .details = RetryAfter(kBusyPause)};
}

ToolError RateLimited(std::uint64_t per_minute, std::chrono::milliseconds wait) {
  return {.code = ErrorCode::kRateLimited,
          .message = fmt::format("this server takes at most {} calls a minute "
                                 "(limits.calls_per_minute); this one was not run",
                                 per_minute),
          .ai_message = fmt::format("Call again in {} s, and make fewer calls: pipeline and batch "
                                    "do not save any.",
                                    std::chrono::ceil<std::chrono::seconds>(wait).count()),
          .details = RetryAfter(wait),
          .retry_after = wait};
}

namespace {

constexpr std::string_view kNoRoom =
    "There is no room left on that file system, or in the user's quota. Nothing was changed. "
    "Delete files that are not needed, or tell the user.";

// What can be used up, by the errno that says so.
struct ShortageRow {
  int number;
  ErrorCode code;
  std::string_view ai_message;
};
constexpr ShortageRow kShortages[] = {
    {EMFILE, ErrorCode::kBusy,
     "This server has as many files open as it may. Call again, with fewer calls at once; if that "
     "does not help, tell the user to start it with a higher limit (ulimit -n)."},
    {ENFILE, ErrorCode::kBusy,
     "The machine has as many files open as it may (fs.file-max). Call again later, or tell the "
     "user."},
    {EAGAIN, ErrorCode::kBusy,
     "The machine or the user has as many processes as they may (ulimit -u, pids.max of a cgroup), "
     "or something is in use. Call again later, or tell the user."},
    {ENOMEM, ErrorCode::kBusy,
     "There is not enough memory (ulimit -v, or the machine's). Do less in one call, or call again "
     "later; if that does not help, tell the user."},
    {ENOSPC, ErrorCode::kFileIo, kNoRoom},
    {EDQUOT, ErrorCode::kFileIo, kNoRoom},
};

}  // namespace

std::optional<ToolError> Shortage(std::string message, int code) {
  const auto* row = std::ranges::find(kShortages, code, &ShortageRow::number);
  if (row == std::end(kShortages)) return std::nullopt;
  return ToolError{.code = row->code,
                   .message = std::move(message),
                   .ai_message = std::string(row->ai_message),
                   .details = row->code == ErrorCode::kBusy ? RetryAfter(kBusyPause) : ""};
}

ToolError OutOfMemory() {
  LogWarning("a call has ended for want of memory");
  ToolError error = *Shortage("the server has not enough memory for this call", ENOMEM);
  error.ai_message += " The call may have done a part: look before you repeat it.";
  return error;
}

ToolError SandboxUnavailable(std::string_view failure) {
  return {
      .code = ErrorCode::kSandboxUnavailable,
      .message = fmt::format("the sandbox could not be set up, so nothing was run: {}", failure),
      .ai_message =
          "Tell the user to run `project-actions doctor` where this server runs: it "
          "says what the kernel lacks and what to do about it."};
}

ToolError NotProtectable(std::string_view failure, policy::ProtectionFailure::Kind why) {
  using enum policy::ProtectionFailure::Kind;
  return {
      .code = ErrorCode::kSandboxUnavailable,
      .message = fmt::format("the protected paths could not be recorded, so the command was not "
                             "run: {}",
                             failure),
      .ai_message =
          why == kOwed
              ? "Tell the user before they use git or open this project: files that an earlier "
                "command left there may be executed. The user must remove them. Every call tries "
                "again first; calls that only look still run."
          : why == kNobody
              ? "The process that reads them was killed, or took too long or too much memory. Call "
                "again; if it fails again, tell the user what the message says."
              : "Tell the user: git's hooks, configuration and index and the paths of "
                "filesystem.protect must be readable, and at most 32 MiB in 16384 files together."};
}

ToolError MakefileInvalid(std::string message, std::string ai_message) {
  return {.code = ErrorCode::kMakefileInvalid,
          .message = std::move(message),
          .ai_message = std::move(ai_message)};
}

ToolError CommandFailed(std::string_view what, std::string_view how, std::string ai_message) {
  return {.code = ErrorCode::kCommandFailed,
          .message = fmt::format("{} failed: {}", what, how),
          .ai_message = std::move(ai_message)};
}

ToolError GitFailed(const GitFailure& failure) {
  constexpr std::size_t kShown = 2000;
  const bool silent = failure.err.empty();  // `nothing to commit` is said on stdout
  const std::string where =
      fmt::format("git's own message is in {}.", silent ? "stdout" : "stderr");
  ToolError error{.code = ErrorCode::kCommandFailed,
                  .message = fmt::format("{} failed: {}", failure.what, failure.how),
                  .ai_message = where};
  if (!failure.in_repository) {
    error.message = fmt::format("{} ({}: {})", kGitHint, failure.what, failure.how);
    error.ai_message = fmt::format("{}. {}", kGitHint, where);
  }
  const std::string_view own = silent ? failure.out : failure.err;
  if (!own.empty()) error.message.append(": ").append(Utf8Prefix(own, kShown));
  return error;
}

ToolError TimedOut(std::string_view what, std::chrono::milliseconds limit, bool is_policys) {
  ToolError error{.code = ErrorCode::kTimedOut,
                  .message = fmt::format(
                      "{} timed out after {} ({}) and was ended with everything it started", what,
                      FormatDuration(limit), is_policys ? "limits.wall_time" : "timeout_ms")};
  error.ai_message =
      is_policys
          ? "The output up to then is included. Do less in one call, or ask the user to raise "
            "limits.wall_time in the policy; timeout_ms can only shorten it."
          : "The output up to then is included. Pass a larger timeout_ms (up to the policy's "
            "limits.wall_time) or do less in one call.";
  return error;
}

ToolError Cancelled(std::string_view what) {
  return {.code = ErrorCode::kCancelled,
          .message = fmt::format("{} was cancelled and ended with everything it started", what),
          .ai_message = "The output up to then is included. Call again if it is still wanted."};
}

ToolError LimitExceeded(std::string_view what, std::string_view limit) {
  return {.code = ErrorCode::kLimitExceeded,
          .message = fmt::format("{} exceeded limits.{} and was ended with everything it started",
                                 what, limit),
          .ai_message = fmt::format("The output up to then is included. Do less at once (for "
                                    "example fewer parallel jobs), or ask the user to raise "
                                    "limits.{} in the policy.",
                                    limit)};
}

ToolError InternalError(std::string_view cause, std::string_view message) {
  std::uint32_t reference = 0;
  // Without entropy the reference is 0, which still finds the line.
  [[maybe_unused]] const ssize_t got = getrandom(&reference, sizeof reference, GRND_NONBLOCK);
  LogError(fmt::format("[{:08x}] {}", reference, cause));
  return {.code = ErrorCode::kInternal,
          .message = fmt::format("{} (reference {:08x} in the server's log)", message, reference),
          .ai_message =
              "This is an error of the server, not of the call. Tell the user the reference."};
}

}  // namespace pa
