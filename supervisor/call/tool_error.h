// ToolError: a refusal or failure as the model sees it. Each code of the contract has one maker, so
// that code, text, advice and recoverability are in one place (supervisor/call/tool_error.cc).
//
//    co_return RefusedCall(NotFound("the file does not exist: " + path, "glob finds names."));
//    if (auto shortage = Shortage(error.Message(), error.sys_errno)) ...   // as a ToolError
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/decide.h"
#include "policy/protection.h"
#include "supervisor/call/error_code.h"
#include "supervisor/text/near_match.h"

namespace pa {

struct ToolError {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;     // begins with the contract's text
  std::string ai_message;  // what to do next
  bool recoverable = IsRecoverable(code);
  std::string details;  // a JSON object, or ""
  // Of RATE_LIMITED: the same call may begin then. It stands in the details, too.
  std::optional<std::chrono::milliseconds> retry_after = {};
};

// Refusals before anything ran.
ToolError InvalidDirectory(const policy::DirectoryRefusal& refusal);
ToolError Denied(const policy::Deny& deny);  // POLICY_DENIED or TOOL_DISABLED
ToolError InvalidArgument(std::string message, std::string ai_message);
// `with_directory`: the tool has the argument working_directory.
ToolError InvalidPath(std::string_view path, std::string_view why, bool with_directory);
ToolError InvalidTarget(std::string_view target, std::span<const std::string> targets);
// The target is .PHONY, but its name is refused because of `reason`.
ToolError NameRefused(std::string_view target, std::string_view reason,
                      std::span<const std::string> targets);
// `program`: `make`, `git`, `bash`, `rg`. `passed_over`: the path of one that is not used because
// commands can write it; "" = none.
ToolError ToolNotFound(std::string_view program, std::string_view passed_over = "");
ToolError NotFound(std::string message, std::string ai_message);
// `kind`: `binary data`, `directory`, `FIFO`.
ToolError BinaryFile(std::string_view path, std::string_view kind, std::uint64_t size);
ToolError FileTooLarge(std::string_view path, std::uint64_t size, std::uint64_t limit);
// `message`: what was done, and why it may not be on the disk.
ToolError NotOnDisk(std::string message);
// `message`: the system's own. `code`: its errno; if it means that a resource is used up, the error
// is that of Shortage.
ToolError FileIo(std::string message, int code = 0);
// `present`: the hash of the present content.
ToolError StaleFile(std::string message, std::string ai_message, std::string_view present);
// `edit`: its index in the call's list. `near`: where the passage is but for what is hard to see.
// `nearest`: a diff to the nearest passage, or "".
ToolError NoMatch(std::size_t edit, std::string_view path, const std::optional<NearMatch>& near,
                  std::string_view nearest);
ToolError AmbiguousMatch(std::size_t edit, std::string_view path, std::uint64_t count,
                         std::span<const std::uint64_t> lines);
ToolError ProtectedFile(std::string_view path, std::string_view protection);  // POLICY_DENIED
ToolError CommitTooLarge(std::uint64_t limit_bytes, std::uint64_t message_bytes);
// BUSY and RATE_LIMITED say in their details when to call again: {"retry_after_ms"}.
ToolError Busy();
ToolError RateLimited(std::uint64_t per_minute, std::chrono::milliseconds wait);
// The error if `code`, an errno, means that a resource is used up: descriptors, processes, memory
// (BUSY), disk space (FILE_IO). Nothing for any other errno.
std::optional<ToolError> Shortage(std::string message, int code);
ToolError OutOfMemory();                                 // of the server, in the middle of the call
ToolError SandboxUnavailable(std::string_view failure);  // `landlock_restrict_self: EPERM`
// `failure`: `protected paths: ...`.
ToolError NotProtectable(std::string_view failure, policy::ProtectionFailure::Kind why = {});

// `message`: make's own.
ToolError MakefileInvalid(std::string message, std::string ai_message);

// A command ran and failed. `what` names it: `make test`, `git commit`.
ToolError CommandFailed(std::string_view what, std::string_view how, std::string ai_message);
struct GitFailure {
  std::string_view what;
  std::string_view how;
  std::string_view out;
  std::string_view err;
  bool in_repository = true;  // else with the contract's hint
};
// With git's own message: its stderr, or its stdout if stderr is empty.
ToolError GitFailed(const GitFailure& failure);
// `is_policys`: the limit is limits.wall_time, not the call's timeout_ms.
ToolError TimedOut(std::string_view what, std::chrono::milliseconds limit, bool is_policys);
ToolError Cancelled(std::string_view what);
ToolError LimitExceeded(std::string_view what, std::string_view limit);  // the policy's key

// An error of the server. `cause` goes to the log, under the reference that the message names;
// `message` is what the client may know.
ToolError InternalError(std::string_view cause, std::string_view message = "internal error");

}  // namespace pa
