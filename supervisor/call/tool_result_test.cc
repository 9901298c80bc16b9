#include "supervisor/call/tool_result.h"

#include <gtest/gtest.h>

#include "tests/support/json.h"

namespace pa {
namespace {

using std::chrono::microseconds;
using testing::Json;

ToolResult Everything() {
  ToolResult result;
  result.data = R"({"exit_code":2})";
  result.error =
      ToolError{ErrorCode::kCommandFailed, "make failed", "Read the output.", true, R"({"n":1})"};
  result.warnings = {"no network namespace"};
  result.decision = "permissions[0]";
  result.truncated = true;
  result.result_uri = "project-actions://results/ab";
  return result;
}

TEST(StructuredContent, HoldsNoMoreThanThereIs) {
  ToolResult result;
  result.text = "fine";
  EXPECT_EQ(StructuredContent(result, microseconds(1999)),
            R"({"success":true,"meta":{"duration_ms":1}})");
}

TEST(StructuredContent, HoldsAllThereIs) {
  EXPECT_EQ(Json::parse(StructuredContent(Everything(), microseconds(5000))), Json::parse(R"({
      "success":false,"data":{"exit_code":2},
      "error":{"code":"COMMAND_FAILED","message":"make failed","ai_message":"Read the output.",
               "recoverable":true,"details":{"n":1}},
      "meta":{"duration_ms":5,"truncated":true,"result_uri":"project-actions://results/ab",
              "warnings":["no network namespace"],"decision":"permissions[0]"}})"));
}

// An argument of 16 MiB is not said three times.
TEST(RefusedCall, SaysTheBeginningAndTheEndOfWhatIsLong) {
  const std::string long_one(1U << 20, 'x');
  const ToolResult result = RefusedCall(
      {ErrorCode::kInvalidPath, "not a path: " + long_one + " (too long)", long_one, false, ""});
  EXPECT_TRUE(result.error->message.starts_with("not a path: xxx"));
  EXPECT_TRUE(result.error->message.contains(" ... 1015831 bytes ... "))
      << result.error->message.substr(16'000, 600);
  EXPECT_TRUE(result.error->message.ends_with("xxx (too long)"));
  EXPECT_LT(result.text.size(), 70'000U);
  const std::string all(32U << 10, 'x');
  EXPECT_EQ(RefusedCall({ErrorCode::kInvalidPath, all, "", true, ""}).error->message, all);
}

TEST(RefusedCall, HasNoEscapesOfAProgramsOwnMessage) {
  const ToolResult result = RefusedCall(
      {ErrorCode::kMakefileInvalid, "\x1b[31mMakefile:1: *** stop\x1b[0m", "", true, ""});
  EXPECT_EQ(result.error->message, "Makefile:1: *** stop");
  EXPECT_FALSE(result.text.contains('\x1b'));
}

TEST(RefusedCall, SaysCodeMessageAndAdviceInText) {
  const ToolResult result = RefusedCall({ErrorCode::kBusy, "no slot is free", "Wait.", true, ""});
  EXPECT_EQ(result.text, "BUSY: no slot is free\nWait.");
  EXPECT_EQ(CodeText(result.error->code), "BUSY");
}

TEST(RefusedCall, LeadsToTheDocumentWhereAnotherCallCannotHelp) {
  const std::string more = "The user finds more under TOOL_DISABLED in docs/troubleshooting.md.";
  const ToolResult result =
      RefusedCall({ErrorCode::kToolDisabled, "make is off", "Enable it.", false, ""});
  EXPECT_EQ(result.error->ai_message, "Enable it. " + more);
  EXPECT_EQ(result.text, "TOOL_DISABLED: make is off\nEnable it. " + more);
  EXPECT_EQ(RefusedCall({ErrorCode::kToolDisabled, "m", "", false, ""}).error->ai_message, more);
}

}  // namespace
}  // namespace pa
