#include "supervisor/call/error_code.h"

#include <algorithm>
#include <iterator>

namespace pa {
namespace {

struct Row {
  ErrorCode code;
  std::string_view text;
  bool recoverable;
};

constexpr Row kRows[] = {
    {ErrorCode::kInvalidArgument, "INVALID_ARGUMENT", true},
    {ErrorCode::kInvalidDirectory, "INVALID_DIRECTORY", true},
    {ErrorCode::kInvalidPath, "INVALID_PATH", true},
    {ErrorCode::kInvalidTarget, "INVALID_TARGET", true},
    {ErrorCode::kMakefileInvalid, "MAKEFILE_INVALID", true},
    {ErrorCode::kToolDisabled, "TOOL_DISABLED", false},
    {ErrorCode::kToolNotFound, "TOOL_NOT_FOUND", false},
    {ErrorCode::kPolicyDenied, "POLICY_DENIED", false},
    {ErrorCode::kApprovalDeclined, "APPROVAL_DECLINED", false},
    {ErrorCode::kNotFound, "NOT_FOUND", true},
    {ErrorCode::kBinaryFile, "BINARY_FILE", true},
    {ErrorCode::kFileTooLarge, "FILE_TOO_LARGE", true},
    {ErrorCode::kFileIo, "FILE_IO", true},
    {ErrorCode::kStaleFile, "STALE_FILE", true},
    {ErrorCode::kNoMatch, "NO_MATCH", true},
    {ErrorCode::kAmbiguousMatch, "AMBIGUOUS_MATCH", true},
    {ErrorCode::kCommitTooLarge, "COMMIT_TOO_LARGE", true},
    {ErrorCode::kCommandFailed, "COMMAND_FAILED", true},
    {ErrorCode::kTimedOut, "TIMED_OUT", true},
    {ErrorCode::kCancelled, "CANCELLED", true},
    {ErrorCode::kLimitExceeded, "LIMIT_EXCEEDED", true},
    {ErrorCode::kBusy, "BUSY", true},
    {ErrorCode::kRateLimited, "RATE_LIMITED", true},
    {ErrorCode::kSandboxUnavailable, "SANDBOX_UNAVAILABLE", false},
    {ErrorCode::kInternal, "INTERNAL", false},
};

// In the order of the enumeration, so that a code is its row's place.
constexpr bool InOrder() {
  return std::ranges::all_of(
      kRows, [](const Row& row) { return &row - kRows == static_cast<std::ptrdiff_t>(row.code); });
}
static_assert(InOrder());
static_assert(std::size(kRows) == static_cast<std::size_t>(ErrorCode::kInternal) + 1);

const Row& RowOf(ErrorCode code) { return kRows[static_cast<std::size_t>(code)]; }

}  // namespace

std::string_view CodeText(ErrorCode code) { return RowOf(code).text; }

bool IsRecoverable(ErrorCode code) { return RowOf(code).recoverable; }

}  // namespace pa
