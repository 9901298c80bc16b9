#include "supervisor/call/call_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "supervisor/call/tool_result.h"

namespace pa {
namespace {

TEST(LogLevel, IsFoundByItsName) {
  for (int level = 0; level < 8; ++level) {
    EXPECT_EQ(FindLogLevel(LogLevelName(LogLevel{static_cast<std::uint8_t>(level)})),
              LogLevel{static_cast<std::uint8_t>(level)});
  }
  EXPECT_EQ(FindLogLevel("WARNING"), std::nullopt);
  EXPECT_EQ(FindLogLevel(""), std::nullopt);
  EXPECT_TRUE(LogLevelNames().starts_with("debug, info, notice, warning"));
}

struct Said {
  LogLevel level;
  std::string text;
  bool operator==(const Said&) const = default;
};

std::vector<Said> LoggedOf(const ToolResult& result) {
  std::vector<Said> said;
  const CallLog log = [&](LogLevel level, std::string_view tool, std::string_view message) {
    said.push_back({level, std::string(tool) + "|" + std::string(message)});
  };
  LogOutcome(log, "make", result, std::chrono::milliseconds(12));
  LogOutcome(nullptr, "make", result, std::chrono::milliseconds(12));
  return said;
}

TEST(LogOutcome, SaysHowItEndedAndWhatWasRefused) {
  EXPECT_EQ(LoggedOf({}), (std::vector<Said>{{LogLevel::kInfo, "make|success, 12 ms"}}));
  ToolResult failed;
  failed.error =
      ToolError{ErrorCode::kCommandFailed, "make test exited with status 2", "", true, ""};
  failed.denials = {"write to /etc/x"};
  failed.warnings = {"Makefile was restored"};
  EXPECT_EQ(LoggedOf(failed),
            (std::vector<Said>{
                {LogLevel::kWarning, "make|write to /etc/x"},
                {LogLevel::kWarning, "make|Makefile was restored"},
                {LogLevel::kInfo, "make|COMMAND_FAILED: make test exited with status 2, 12 ms"}}));
  EXPECT_EQ(LoggedOf(RefusedCall(InternalError("broken"))).front().level, LogLevel::kError);
}

}  // namespace
}  // namespace pa
