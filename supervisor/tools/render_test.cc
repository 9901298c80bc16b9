#include "supervisor/tools/render.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>

#include "base/json.h"

namespace pa {
namespace {

CommandReport Report() {
  return {.what = "make test", .argv = {"make", "--", "test"}, .working_dir = "/p"};
}

Execution Exited(int code) {
  Execution run;
  run.outcome = Outcome::kExited;
  run.exit_code = code;
  run.out.text = "out\n";
  run.duration = std::chrono::milliseconds(1300);
  return run;
}

Execution Ended(Outcome outcome) {
  Execution run = Exited(-1);
  run.outcome = outcome;
  return run;
}

std::string Code(const Execution& run) {
  const auto error = ErrorOf(Report(), run);
  return error ? std::string(CodeText(error->code)) : "";
}

TEST(RenderTest, Success) {
  const ToolResult result = RenderCommand(Report(), Exited(0));
  EXPECT_FALSE(result.error.has_value());
  EXPECT_EQ(result.text, "make test: exit code 0 in 1.3 s\nout\n");
  const auto data = ParseJson(result.data);
  ASSERT_TRUE(data.has_value());
  EXPECT_EQ(data->Find("command")->AsString(), "make -- test");
  EXPECT_EQ(data->Find("stdout")->AsString(), "out\n");
  EXPECT_EQ(data->Find("stderr")->AsString(), "");
  EXPECT_EQ(data->Find("exit_code")->AsInteger(), 0);
  EXPECT_EQ(data->Find("outcome")->AsString(), "exited");
  EXPECT_EQ(data->Find("duration_ms")->AsInteger(), 1300);
  EXPECT_EQ(data->Find("working_dir")->AsString(), "/p");
  EXPECT_EQ(data->Find("signal"), nullptr);
}

TEST(RenderTest, ProtectedPathsAreToldInDataAndText) {
  Execution run = Exited(0);
  run.protected_changes = {
      {.path = "/p/.git", .kind = ChangeKind::kReplaced, .restored = true, .kept = "/state/1-.git"},
      {.path = "/p/.git", .kind = ChangeKind::kMoved, .restored = true},
      {.path = "/elsewhere/x\nwarning: y",
       .kind = ChangeKind::kAdded,
       .restored = true,
       .kept = "/k"}};
  const ToolResult result = RenderCommand(Report(), run);
  EXPECT_FALSE(result.error.has_value());
  const JsonValue data = ParseJson(result.data).value();
  EXPECT_EQ(data.Find("protected_paths_modified")->Dump(), R"([".git","/elsewhere/x?warning: y"])");
  ASSERT_EQ(result.warnings.size(), 4u);
  EXPECT_EQ(result.warnings[0],
            "protected path replaced while make test ran: .git; it was restored; the new file is "
            "kept in /state/1-.git");
  for (const std::string& warning : result.warnings) {
    EXPECT_NE(result.text.find("warning: " + warning + "\n"), std::string::npos) << result.text;
  }
}

TEST(RenderTest, WhatCouldNotBeRestoredFailsTheCall) {
  Execution run = Exited(0);
  run.protected_changes = {{.path = "/p/.git", .kind = ChangeKind::kRemoved}};
  const ToolResult result = RenderCommand(Report(), run);
  ASSERT_TRUE(result.error.has_value());
  EXPECT_EQ(CodeText(result.error->code), "COMMAND_FAILED");
  EXPECT_NE(result.error->message.find(".git"), std::string::npos);
  EXPECT_NE(result.text.find(result.error->ai_message), std::string::npos);
  EXPECT_EQ(ParseJson(result.data)->Find("exit_code")->AsInteger(), 0);
  run.outcome = Outcome::kSetupFailed;
  run.failure = "the worker is gone";
  EXPECT_EQ(RenderCommand(Report(), run).warnings.size(), 2u);
}

// However the command ended, and whatever else it was refused.
TEST(RenderTest, DamageIsSaidBesideEachError) {
  const auto expect = [](Execution run, const std::string& code, const std::string& how) {
    run.protected_changes = {{.path = "/p/.git",
                              .kind = ChangeKind::kDamaged,
                              .restored = false,
                              .failure = "6 of 6 objects are gone",
                              .repository = true}};
    Denial denial;
    denial.path = "/x";
    const ToolResult result = RenderCommand(Report(), run, {&denial, 1});
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(CodeText(result.error->code), code);
    EXPECT_TRUE(result.error->message.contains(how)) << result.error->message;
    EXPECT_TRUE(result.error->message.contains("6 of 6 objects are gone")) << result.error->message;
    EXPECT_TRUE(result.error->ai_message.starts_with("Tell the user")) << result.error->ai_message;
  };
  expect(Exited(0), "COMMAND_FAILED", "it damaged the git repository .git");
  expect(Exited(3), "COMMAND_FAILED", "exit code 3; it damaged the git repository .git");
  expect(Ended(Outcome::kTimedOut), "TIMED_OUT", "timed out");
  expect(Ended(Outcome::kLimitExceeded), "LIMIT_EXCEEDED", "; it damaged");
}

TEST(RenderTest, ManyProtectedPathsAreNotAllTold) {
  Execution run = Exited(0);
  for (int i = 0; i < 1000; ++i) {
    run.protected_changes.push_back(
        {.path = "/p/" + std::to_string(i), .kind = ChangeKind::kAdded, .restored = true});
  }
  const ToolResult result = RenderCommand(Report(), run);
  EXPECT_EQ(result.warnings.size(), 22u);
  EXPECT_NE(result.warnings[20].find("1000"), std::string::npos);
  EXPECT_EQ(ParseJson(result.data)->Find("protected_paths_modified")->Items().size(), 1000u);
}

TEST(RenderTest, WhatCannotBeLookedAfterRunsNothing) {
  using enum policy::ProtectionFailure::Kind;
  const Error error("protected paths", "/p/.git/hooks: EFBIG");
  const ToolError unreadable = *RenderCommand(Report(), FailedToProtect(error)).error;
  EXPECT_EQ(CodeText(unreadable.code), "SANDBOX_UNAVAILABLE");
  EXPECT_NE(unreadable.message.find("EFBIG"), std::string::npos);
  const ToolError owed = *RenderCommand(Report(), FailedToProtect({error, kOwed})).error;
  EXPECT_EQ(CodeText(owed.code), "SANDBOX_UNAVAILABLE");
  EXPECT_NE(owed.ai_message, unreadable.ai_message);
  EXPECT_TRUE(unreadable.ai_message.contains("at most 32 MiB"));
  const ToolError killed =
      *RenderCommand(Report(), FailedToProtect({Error("janitor", "", EPIPE), kNobody})).error;
  EXPECT_FALSE(killed.ai_message.contains("MiB")) << "it is not the sizes";
  EXPECT_TRUE(killed.ai_message.contains("Call again"));
  const ToolError within =
      *RenderCommand(Report(), FailedToProtect({Error("x", "/p/.git (git)"), kWithin})).error;
  EXPECT_EQ(CodeText(within.code), "INVALID_DIRECTORY");
  EXPECT_TRUE(within.message.ends_with(": /p/.git (git)")) << within.message;
}

// Whatever it was in the way of, it passes; what a kernel lacks, or a policy asks for, does not.
TEST(RenderTest, WhatIsUsedUpIsNoProtectionThatLacks) {
  for (const worker::Step step : {worker::Step::kNone, worker::Step::kNamespaces,
                                  worker::Step::kLandlock, worker::Step::kExecute}) {
    for (const int code : {EMFILE, ENFILE, EAGAIN, ENOMEM}) {
      Execution run = FailedToProtect(Error("protected paths: open", "/p/.git/hooks", code));
      run.failed_step = step;
      const ToolResult result = RenderCommand(Report(), run);
      EXPECT_EQ(CodeText(result.error->code), "BUSY") << run.failure;
      EXPECT_NE(result.error->message.find(run.failure), std::string::npos);
    }
  }
  Execution run = Ended(Outcome::kSetupFailed);
  run.failed_errno = ENOSPC;
  run.failure = Error("mkdir", "/tmp/x", ENOSPC).Message();
  EXPECT_EQ(CodeText(RenderCommand(Report(), run).error->code), "FILE_IO");
  run.failed_step = worker::Step::kNamespaces;
  EXPECT_EQ(CodeText(RenderCommand(Report(), run).error->code), "SANDBOX_UNAVAILABLE");
  run = FailedToProtect(Error("protected paths: open", "/p/.git/hooks", EACCES));
  EXPECT_EQ(CodeText(RenderCommand(Report(), run).error->code), "SANDBOX_UNAVAILABLE");
}

// As when a command that ran meanwhile moves it: neither the kernel nor the server is at fault.
TEST(RenderTest, ADirectoryThatIsNoLongerTheOneThatWasCheckedIsSaidToBeThat) {
  using enum worker::Step;
  const auto code_of = [](worker::Step step, int code) {
    Execution run = Ended(Outcome::kSetupFailed);
    run.failed_step = step;
    run.failed_errno = code;
    run.failure = Error("chdir", "/p/sub", code).Message();
    const ToolResult result = RenderCommand(Report(), run);
    return std::string(CodeText(result.error->code));
  };
  for (const int code : {ENOENT, ENOTDIR, ELOOP, ESTALE, EACCES}) {
    EXPECT_EQ(code_of(kWorkingDirectory, code), "INVALID_DIRECTORY") << code;
  }
  EXPECT_EQ(code_of(kMounts, ELOOP), "INVALID_DIRECTORY");
  EXPECT_EQ(code_of(kNone, ELOOP), "INVALID_DIRECTORY");
  EXPECT_EQ(code_of(kMounts, EPERM), "SANDBOX_UNAVAILABLE");
  EXPECT_EQ(code_of(kLandlock, ELOOP), "SANDBOX_UNAVAILABLE");
  EXPECT_EQ(code_of(kExecute, ELOOP), "COMMAND_FAILED");
  EXPECT_EQ(code_of(kWorkingDirectory, EIO), "INTERNAL");
  EXPECT_EQ(code_of(kNone, EIO), "INTERNAL");
}

TEST(RenderTest, FailureKeepsTheData) {
  Execution run = Exited(2);
  run.err.text = "bad\n";
  const ToolResult result = RenderCommand(Report(), run);
  ASSERT_TRUE(result.error.has_value());
  EXPECT_EQ(CodeText(result.error->code), "COMMAND_FAILED");
  EXPECT_EQ(ParseJson(result.data)->Find("exit_code")->AsInteger(), 2);
  EXPECT_TRUE(result.text.starts_with("make test: exit code 2 in 1.3 s\n"));
  EXPECT_NE(result.text.find("bad\n"), std::string::npos);
}

TEST(RenderTest, DenialsStandInBothParts) {
  const std::vector<Denial> denials = {{.path = "/h/key",
                                        .access = "read",
                                        .blocked_by = "landlock: read not granted by the policy",
                                        .allow_with = R"(filesystem: {read: ["/h/key"]})",
                                        .source = "stderr"}};
  const ToolResult result = RenderCommand(Report(), Exited(1), denials);
  const auto data = ParseJson(result.data);
  ASSERT_EQ(data->Find("denials")->Items().size(), 1u);
  EXPECT_EQ(data->Find("denials")->Items()[0].Find("path")->AsString(), "/h/key");
  ASSERT_EQ(result.denials.size(), 1u);
  EXPECT_NE(result.text.find("\n" + result.denials[0] + "\n"), std::string::npos) << result.text;
  EXPECT_NE(result.error->ai_message.find("denied"), std::string::npos);
  EXPECT_EQ(ParseJson(RenderCommand(Report(), Exited(1)).data)->Find("denials"), nullptr);
}

TEST(RenderTest, KilledIsNeverSuccess) {
  Execution killed = Ended(Outcome::kSignaled);
  killed.signal = SIGKILL;
  const ToolResult result = RenderCommand(Report(), killed);
  EXPECT_EQ(CodeText(result.error->code), "COMMAND_FAILED");
  EXPECT_EQ(ParseJson(result.data)->Find("signal")->AsInteger(), SIGKILL);
  EXPECT_TRUE(result.text.starts_with("make test: killed by signal 9 (SIGKILL)"));
  EXPECT_EQ(Code(Ended(Outcome::kTimedOut)), "TIMED_OUT");
  EXPECT_EQ(Code(Ended(Outcome::kCancelled)), "CANCELLED");
  Execution limited = Ended(Outcome::kLimitExceeded);
  limited.limit = worker::Limit::kMemory;
  EXPECT_EQ(Code(limited), "LIMIT_EXCEEDED");
  EXPECT_NE(ErrorOf(Report(), limited)->message.find("limits.memory"), std::string::npos);
}

TEST(RenderTest, GitFailsWithTheHintWhereThereIsNoRepository) {
  CommandReport report = Report();
  report.git = true;
  Execution wrong = Exited(1);
  wrong.err.text = "fatal: pathspec 'x' did not match any files\n";
  EXPECT_FALSE(ErrorOf(report, wrong)->message.contains("git init"));
  report.in_repository = false;
  EXPECT_TRUE(ErrorOf(report, wrong)->message.contains("git init"));
  report.in_repository = true;
  Execution run = Exited(128);
  run.err.text = "fatal: not a git repository\n";
  const auto error = ErrorOf(report, run);
  EXPECT_NE(error->message.find("you may need to run 'git init'"), std::string::npos);
  EXPECT_NE(error->message.find("fatal: not a git repository"), std::string::npos);
}

// An ordinary failed test is none of the sandbox's.
TEST(RenderTest, OnlyADenialSpeaksOfTheSandbox) {
  Execution run = Exited(1);
  run.out.text = "FAILED t.py::test - 'permission denied' != 'not found'\n";
  const ToolResult plain = RenderCommand(Report(), run);
  EXPECT_FALSE(plain.error->ai_message.contains("sandbox")) << plain.error->ai_message;
  EXPECT_FALSE(plain.text.contains("sandbox")) << plain.text;
  const std::vector<Denial> denials = {
      {.path = "/h/x", .access = "read", .blocked_by = "landlock: read not granted by the policy"}};
  EXPECT_TRUE(RenderCommand(Report(), run, denials).error->ai_message.contains("sandbox"));
}

TEST(RenderTest, NothingRan) {
  Execution run;
  run.failure = "landlock_restrict_self: EPERM";
  run.failed_step = worker::Step::kLandlock;
  EXPECT_EQ(Code(run), "SANDBOX_UNAVAILABLE");
  EXPECT_NE(ErrorOf(Report(), run)->message.find("landlock_restrict_self"), std::string::npos);
  run.failed_step = worker::Step::kSeccomp;
  EXPECT_EQ(Code(run), "SANDBOX_UNAVAILABLE");
  run.failed_step = worker::Step::kReadSpec;
  run.failure = "read: EIO";
  EXPECT_EQ(Code(run), "INTERNAL");
  run.failed_step = worker::Step::kExecute;
  EXPECT_EQ(Code(run), "COMMAND_FAILED");
  run.failed_errno = E2BIG;
  EXPECT_EQ(Code(run), "INVALID_ARGUMENT");
  run.failed_step = worker::Step::kDecodeSpec;
  run.failure = "encode spec \"size\": E2BIG";
  EXPECT_EQ(Code(run), "INVALID_ARGUMENT");
  run.failed_step = worker::Step::kNone;
  run.failure = "encode launch order \"size\": E2BIG";
  EXPECT_EQ(Code(run), "INTERNAL") << "of the policy's doing";
  run.busy = true;
  EXPECT_EQ(Code(run), "BUSY");
  EXPECT_TRUE(RenderCommand(Report(), run).data.empty());
}

TEST(RenderTest, TheReasonOfAnInternalErrorIsInTheLogAlone) {
  Execution run;
  run.failure = "recvmsg \"worker launcher\": EPIPE";
  const auto error = ErrorOf(Report(), run);
  EXPECT_EQ(CodeText(error->code), "INTERNAL");
  EXPECT_EQ(error->message.find("launcher"), std::string::npos) << error->message;
}

TEST(RenderTest, WhatWasLeftBehindIsToldWhenTheCommandEndedByItself) {
  Execution run = Exited(0);
  run.strays_killed = 1;
  const ToolResult left = RenderCommand(Report(), run);
  ASSERT_EQ(left.warnings.size(), 1u);
  EXPECT_NE(left.text.find(left.warnings[0]), std::string::npos) << "each part is complete";
  run.outcome = Outcome::kTimedOut;  // they were ended with it
  EXPECT_TRUE(RenderCommand(Report(), run).warnings.empty());
}

TEST(RenderTest, LongOutputIsLinkedAndCounted) {
  Execution run = Exited(0);
  run.out.uri = "project-actions://results/x";
  run.out.total_bytes = 1000;
  run.out.omitted_bytes = 900;
  run.out.omitted_lines = 9;
  run.out.lost_bytes = 100;
  const ToolResult result = RenderCommand(Report(), run);
  EXPECT_TRUE(result.truncated);
  EXPECT_EQ(result.result_uri, run.out.uri);
  ASSERT_EQ(result.links.size(), 1u);
  EXPECT_EQ(result.links[0].size, 900u);
  EXPECT_EQ(result.warnings, std::vector<std::string>{"make test: stdout: 100 bytes beyond "
                                                      "limits.output_total were not kept"});
  EXPECT_EQ(ParseJson(result.data)->Find("stdout_omitted_bytes")->AsInteger(), 900);
  run.out.why_lost = "no room";
  EXPECT_EQ(RenderCommand(Report(), run).warnings,
            std::vector<std::string>{"make test: stdout: 100 bytes were not kept: no room"});
}

// The text is short of it all the same.
TEST(RenderTest, WhatIsKeptElsewhereIsTruncatedToo) {
  for (Captured Execution::* stream : {&Execution::out, &Execution::err}) {
    Execution run = Exited(0);
    (run.*stream).uri = "project-actions://results/x";
    (run.*stream).total_bytes = 1000;
    (run.*stream).omitted_bytes = 900;
    EXPECT_TRUE(RenderCommand(Report(), run).truncated);
    (run.*stream).omitted_bytes = 0;
    EXPECT_FALSE(RenderCommand(Report(), run).truncated);
  }
}

TEST(RenderTest, BytesThatAreNoTextBreakNothing) {
  Execution run = Exited(0);
  run.out.text = std::string("\0\xff\"}\n{\"jsonrpc\"", 15);
  EXPECT_TRUE(ParseJson(RenderCommand(Report(), run).data).has_value());
}

}  // namespace
}  // namespace pa
