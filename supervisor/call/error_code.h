// ErrorCode: the kind of refusal or failure with which a call ended. The table in error_code.cc has
// the contract's text for each code, and whether it is recoverable.
#pragma once

#include <cstdint>
#include <string_view>

namespace pa {

enum class ErrorCode : std::uint8_t {
  kInvalidArgument,
  kInvalidDirectory,
  kInvalidPath,
  kInvalidTarget,
  kMakefileInvalid,
  kToolDisabled,
  kToolNotFound,
  kPolicyDenied,
  kApprovalDeclined,
  kNotFound,
  kBinaryFile,
  kFileTooLarge,
  kFileIo,
  kStaleFile,
  kNoMatch,
  kAmbiguousMatch,
  kCommitTooLarge,
  kCommandFailed,
  kTimedOut,
  kCancelled,
  kLimitExceeded,
  kBusy,
  kRateLimited,
  kSandboxUnavailable,
  kInternal,
};

std::string_view CodeText(ErrorCode code);  // `INVALID_TARGET`
// False: no other call of the same kind can succeed.
bool IsRecoverable(ErrorCode code);

}  // namespace pa
