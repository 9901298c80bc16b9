#include "supervisor/call/error_code.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(ErrorCode, TextsAreThoseOfTheContract) {
  EXPECT_EQ(CodeText(ErrorCode::kInvalidArgument), "INVALID_ARGUMENT");
  EXPECT_EQ(CodeText(ErrorCode::kFileIo), "FILE_IO");
  EXPECT_EQ(CodeText(ErrorCode::kInternal), "INTERNAL");
}

// What another call can mend is recoverable; what somebody else has to change is not.
TEST(ErrorCode, WhatOnlyTheUserCanChangeIsNotRecoverable) {
  for (const ErrorCode code :
       {ErrorCode::kPolicyDenied, ErrorCode::kToolDisabled, ErrorCode::kToolNotFound,
        ErrorCode::kSandboxUnavailable, ErrorCode::kInternal}) {
    EXPECT_FALSE(IsRecoverable(code)) << CodeText(code);
  }
  for (const ErrorCode code : {ErrorCode::kInvalidArgument, ErrorCode::kBusy,
                               ErrorCode::kCommandFailed, ErrorCode::kCancelled}) {
    EXPECT_TRUE(IsRecoverable(code)) << CodeText(code);
  }
}

}  // namespace
}  // namespace pa
