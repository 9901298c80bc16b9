// ToolError: a refusal or failure as the model sees it. One maker for each code of the contract, so
// that code, text, advice and recoverability stand in one place (supervisor/call/tool_error.cc).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/decide.h"
#include "supervisor/call/error_code.h"

namespace pa {

struct ToolError {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;     // begins with the contract's text
  std::string ai_message;  // what to do next
  bool recoverable = IsRecoverable(code);
  std::string details;  // a JSON object, or ""
};

// Refused before anything ran.
ToolError InvalidDirectory(const policy::DirectoryRefusal& refusal);
ToolError Denied(const policy::Deny& deny);  // POLICY_DENIED or TOOL_DISABLED
ToolError InvalidArgument(std::string message, std::string ai_message);
ToolError InvalidPath(std::string_view path, std::string_view why);
ToolError InvalidTarget(std::string_view target, std::span<const std::string> targets);
// It is .PHONY, but `reason` stands against its name.
ToolError NameRefused(std::string_view target, std::string_view reason,
                      std::span<const std::string> targets);
// `make`, `git`, `bash`, `rg`. `passed_over`: one that commands can write; "" = there is none.
ToolError ToolNotFound(std::string_view program, std::string_view passed_over = "");
ToolError NotFound(std::string message, std::string ai_message);
// `kind`: `binary data`, `directory`, `FIFO`.
ToolError BinaryFile(std::string_view path, std::string_view kind, std::uint64_t size);
ToolError FileTooLarge(std::string_view path, std::uint64_t size, std::uint64_t limit);
// `message`: what is done, and why it may not be on the disk.
ToolError NotOnDisk(std::string message);
// `message` in the system's own words, `code` its errno. Of what the system has none left of: as
// Shortage.
ToolError FileIo(std::string message, int code = 0);
// `present`: the hash of what is there.
ToolError StaleFile(std::string message, std::string ai_message, std::string_view present);
// `edit` is its place in the call's list, `nearest` a diff, or "".
ToolError NoMatch(std::size_t edit, std::string_view path, std::string_view nearest);
ToolError AmbiguousMatch(std::size_t edit, std::string_view path, std::uint64_t count,
                         std::span<const std::uint64_t> lines);
ToolError ProtectedFile(std::string_view path, std::string_view protection);  // POLICY_DENIED
ToolError CommitTooLarge(std::uint64_t limit_bytes, std::uint64_t message_bytes);
ToolError Busy();
// `code`, an errno, says that something is used up: descriptors, processes, memory (BUSY), room on
// a disk (FILE_IO). Nothing: it is another one.
std::optional<ToolError> Shortage(std::string message, int code);
ToolError OutOfMemory();  // the server itself, in the middle of the call
ToolError SandboxUnavailable(std::string_view failure);  // `landlock_restrict_self: EPERM`
// `protected paths: ...`. `owed`: an earlier command's change cannot be put back.
ToolError NotProtectable(std::string_view failure, bool owed = false);

// `message` is make's own.
ToolError MakefileInvalid(std::string message, std::string ai_message);

// A command ran and did not succeed. `what` names it: `make test`, `git commit`.
ToolError CommandFailed(std::string_view what, std::string_view how, std::string ai_message);
// The contract's hint, then git's own words: what it wrote to stderr, else to stdout.
ToolError GitFailed(std::string_view what, std::string_view how, std::string_view out,
                    std::string_view err);
// `is_policys`: the limit is limits.wall_time, not the call's timeout_ms.
ToolError TimedOut(std::string_view what, std::chrono::milliseconds limit, bool is_policys);
ToolError Cancelled(std::string_view what);
ToolError LimitExceeded(std::string_view what, std::string_view limit);  // the policy's key

// Our fault. `cause` goes to the log under the reference that the message names; `message`, if any,
// is what the client may know.
ToolError InternalError(std::string_view cause, std::string_view message = "internal error");

}  // namespace pa
