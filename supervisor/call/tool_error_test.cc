#include "supervisor/call/tool_error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace pa {
namespace {

// The texts that clients and users rely on, as the contract has them.
TEST(ToolErrorTest, TextsOfTheContract) {
  const ToolError planted = ToolNotFound("rg", "/src/bin/rg");
  EXPECT_EQ(
      planted.message,
      "rg not found on PATH except /src/bin/rg, which is not used because commands can write it - "
      "install ripgrep elsewhere");
  EXPECT_EQ(CodeText(planted.code), "TOOL_NOT_FOUND");
  EXPECT_EQ(ToolNotFound("make").message, "make not found on PATH - install make to use this tool");
  EXPECT_EQ(ToolNotFound("git").message,
            "git not found on PATH - install git to use git operations");
  EXPECT_EQ(InvalidTarget("x", {}).message, "target 'x' not found in Makefile .PHONY targets");
  EXPECT_TRUE(
      InvalidPath("../x", "why", true).message.starts_with("path escapes working directory: ../x"));
  EXPECT_EQ(CommitTooLarge(16 << 10, 20000).message,
            "commit message exceeds 16 KB limit (use PROJECT_ACTIONS_MAX_COMMIT_SIZE to adjust)");
  EXPECT_EQ(
      CommitTooLarge(500, 501).message,
      "commit message exceeds 500 bytes limit (use PROJECT_ACTIONS_MAX_COMMIT_SIZE to adjust)");
  EXPECT_TRUE(
      GitFailed({"git add", "exit code 128", "", "fatal: x", false})
          .message.starts_with(
              "git command failed - you may need to run 'git init' or specify another directory"));
}

// What is used up is said by its cause, and what helps against that one.
TEST(ToolErrorTest, EachShortageHasItsCodeAndAdvice) {
  struct Row {
    int number;
    const char* code;
    const char* advice;
  };
  constexpr Row kRows[] = {
      {EMFILE, "BUSY", "ulimit -n"},          {ENFILE, "BUSY", "fs.file-max"},
      {EAGAIN, "BUSY", "ulimit -u"},          {ENOMEM, "BUSY", "ulimit -v"},
      {ENOSPC, "FILE_IO", "no room left on"}, {EDQUOT, "FILE_IO", "the user's quota"},
  };
  for (const Row& row : kRows) {
    const std::string message = Error("open", "/p/file", row.number).Message();
    for (const auto& error :
         {Shortage(message, row.number), std::optional(FileIo(message, row.number)),
          std::optional(InvalidDirectory({message, "", row.number}))}) {
      ASSERT_TRUE(error) << message;
      EXPECT_EQ(CodeText(error->code), row.code) << message;
      EXPECT_EQ(error->message, message);
      EXPECT_NE(error->ai_message.find(row.advice), std::string::npos) << error->ai_message;
      EXPECT_TRUE(error->recoverable) << message;
      EXPECT_EQ(error->details.contains("retry_after_ms"), row.code == std::string_view("BUSY"));
    }
  }
  // No error number has advice that is not one of those, and none of those is without.
  for (int code = 0; code < 200; ++code) {
    EXPECT_EQ(Shortage("", code).has_value(), MeansUsedUp(code)) << code;
  }
  EXPECT_EQ(CodeText(InvalidDirectory({"m", "a", EACCES}).code), "INVALID_DIRECTORY");
}

TEST(ToolErrorTest, CodesOfTheContract) {
  using std::chrono::milliseconds;
  EXPECT_EQ(CodeText(InvalidDirectory({"m", "a"}).code), "INVALID_DIRECTORY");
  const ToolError unread = InvalidDirectory({.message = "the janitor ended", .unread = true});
  EXPECT_EQ(CodeText(unread.code), "SANDBOX_UNAVAILABLE");
  EXPECT_TRUE(unread.message.contains("the janitor ended")) << unread.message;
  EXPECT_TRUE(unread.ai_message.contains("Call again")) << unread.ai_message;
  EXPECT_EQ(CodeText(Denied({"m", "a"}).code), "POLICY_DENIED");
  EXPECT_EQ(CodeText(InvalidArgument("m", "a").code), "INVALID_ARGUMENT");
  EXPECT_EQ(CodeText(InvalidPath("p", "w", false).code), "INVALID_PATH");
  EXPECT_EQ(CodeText(InvalidTarget("t", {}).code), "INVALID_TARGET");
  EXPECT_EQ(CodeText(ToolNotFound("git").code), "TOOL_NOT_FOUND");
  EXPECT_EQ(CodeText(NotFound("m", "a").code), "NOT_FOUND");
  EXPECT_EQ(CodeText(CommitTooLarge(1, 2).code), "COMMIT_TOO_LARGE");
  EXPECT_EQ(CodeText(Busy().code), "BUSY");
  EXPECT_EQ(CodeText(SandboxUnavailable("x").code), "SANDBOX_UNAVAILABLE");
  EXPECT_EQ(CodeText(NotProtectable("x").code), "SANDBOX_UNAVAILABLE");
  EXPECT_EQ(CodeText(MakefileInvalid("m", "a").code), "MAKEFILE_INVALID");
  EXPECT_EQ(CodeText(CommandFailed("w", "h", "a").code), "COMMAND_FAILED");
  EXPECT_EQ(CodeText(GitFailed({"w", "h", "", ""}).code), "COMMAND_FAILED");
  EXPECT_EQ(CodeText(TimedOut("w", milliseconds(1500), false).code), "TIMED_OUT");
  EXPECT_EQ(CodeText(NameRefused("a.b", "r", {}).code), "INVALID_TARGET");
  EXPECT_EQ(CodeText(Cancelled("w").code), "CANCELLED");
  EXPECT_EQ(CodeText(LimitExceeded("w", "memory").code), "LIMIT_EXCEEDED");
  EXPECT_EQ(CodeText(InternalError("cause").code), "INTERNAL");
}

TEST(ToolErrorTest, InvalidTargetNamesThoseThatAre) {
  const std::vector<std::string> targets = {"build", "te\"st"};
  const ToolError error = InvalidTarget("x", targets);
  EXPECT_NE(error.ai_message.find("build, te\"st"), std::string::npos);
  const auto details = ParseJson(error.details);
  ASSERT_TRUE(details.has_value());
  EXPECT_EQ(details->Find("targets")->Items()[1].AsString(), "te\"st");
}

TEST(ToolErrorTest, APathIsMendedByArgumentsThatTheToolHas) {
  EXPECT_TRUE(InvalidPath("p", "w", true).ai_message.contains("pass another working_directory"));
  EXPECT_FALSE(InvalidPath("p", "w", false).ai_message.contains("working_directory"));
}

TEST(ToolErrorTest, GitsOwnErrorIsTold) {
  const ToolError said = GitFailed({"git add", "exit code 128", "noise", "fatal: boom"});
  EXPECT_TRUE(said.message.ends_with(": fatal: boom")) << said.message;
  EXPECT_TRUE(said.ai_message.ends_with("is in stderr.")) << said.ai_message;
  const ToolError nothing = GitFailed({"git commit", "exit code 1", "nothing to commit", ""});
  EXPECT_TRUE(nothing.message.ends_with(": nothing to commit")) << nothing.message;
  EXPECT_TRUE(nothing.ai_message.ends_with("is in stdout.")) << nothing.ai_message;
  EXPECT_EQ(said.message, "git add failed: exit code 128: fatal: boom") << "there is a repository";
  const std::string long_one = std::string(2000, 'x') + "\u00e9";
  const ToolError cut = GitFailed({"w", "h", "", long_one});
  EXPECT_TRUE(cut.message.ends_with("x")) << "a character is cut in two";
}

TEST(ToolErrorTest, ATimeoutNamesItsLimit) {
  using std::chrono::milliseconds;
  const ToolError ours = TimedOut("make x", milliseconds(300), false);
  EXPECT_NE(ours.message.find("after 300ms (timeout_ms)"), std::string::npos) << ours.message;
  const ToolError policys = TimedOut("make x", milliseconds(300), true);
  EXPECT_NE(policys.message.find("(limits.wall_time)"), std::string::npos) << policys.message;
  EXPECT_EQ(policys.ai_message.find("Pass a larger timeout_ms"), std::string::npos);
}

TEST(ToolErrorTest, InternalTellsAReferenceAndNotTheCause) {
  const ToolError error = InternalError("secret path");
  EXPECT_EQ(error.message.find("secret path"), std::string::npos);
  EXPECT_NE(error.message.find("reference "), std::string::npos);
  EXPECT_NE(InternalError("x").message, InternalError("x").message);
}

TEST(ToolErrorTest, WhatNoOtherCallCanMendIsNotRecoverable) {
  EXPECT_FALSE(ToolNotFound("make").recoverable);
  EXPECT_FALSE(SandboxUnavailable("x").recoverable);
  EXPECT_FALSE(Denied({"m", "a", true}).recoverable);
  EXPECT_TRUE(InvalidTarget("x", {}).recoverable);
  EXPECT_TRUE(Busy().recoverable);
}

}  // namespace
}  // namespace pa
