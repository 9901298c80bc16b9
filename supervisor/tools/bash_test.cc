// bash with the real bash, in the real sandbox.
#include "supervisor/tools/bash.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "base/json_writer.h"
#include "tests/support/deadline.h"
#include "tests/support/processes.h"
#include "tests/support/tool_fixture.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class BashTest : public ToolFixture {
 protected:
  ToolResult Bash(const std::string& command, const std::string& more = "") {
    JsonWriter w;
    w.String(command);
    return Call("bash", R"({"command":)" + std::move(w).Take() + more + "}");
  }
  std::string Out(const std::string& command, const std::string& more = "") {
    return Data(Bash(command, more)).Find("stdout")->AsString();
  }
  // For sleep: no other process has that in its command line.
  const std::string long_ = "600." + std::to_string(getpid());
};

TEST_F(BashTest, RunsWhereItIsTold) {
  fs::create_directory(project_ / "sub");
  EXPECT_EQ(Out("pwd"), project_.string() + "\n");
  EXPECT_EQ(Out("pwd", R"(,"working_directory":"sub")"), (project_ / "sub").string() + "\n");
  EXPECT_EQ(Code(Bash("pwd", R"(,"working_directory":"/etc")")), "INVALID_DIRECTORY");
}

TEST_F(BashTest, IsBashAndTheWholeTextIsItsOwn) {
  EXPECT_EQ(Out("a=(x y)\necho ${a[1]}\ncat <<'END'\n$HOME \"'\nEND\n"), "y\n$HOME \"'\n");
  EXPECT_EQ(Out("-x 2>/dev/null || echo no option"), "no option\n");
  const ToolResult result = Bash("echo out; echo err >&2; exit 3");
  EXPECT_EQ(Code(result), "COMMAND_FAILED");
  const JsonValue data = ParseJson(result.data).value();
  EXPECT_EQ(data.Find("command")->AsString(), "bash -c -- 'echo out; echo err >&2; exit 3'");
  EXPECT_EQ(data.Find("stdout")->AsString(), "out\n");
  EXPECT_EQ(data.Find("stderr")->AsString(), "err\n");
  EXPECT_EQ(data.Find("exit_code")->AsInteger(), 3);
  EXPECT_TRUE(result.text.starts_with("bash: exit code 3 in ")) << result.text;
}

TEST_F(BashTest, StandardInputIsEmptyUnlessGiven) {
  EXPECT_EQ(Out("cat; echo end"), "end\n");
  EXPECT_EQ(Out("cat; echo end", R"(,"stdin":"one\ntwo\n")"), "one\ntwo\nend\n");
  EXPECT_EQ(Out("wc -c", ",\"stdin\":\"" + std::string(1 << 20, 'a') + "\""), "1048576\n");
  EXPECT_EQ(Out("test -t 0 || echo no terminal"), "no terminal\n");
}

// Nothing that the project holds is executed before the command.
TEST_F(BashTest, ReadsNoStartupFile) {
  for (const char* name : {".bashrc", ".bash_profile", ".profile"}) {
    Write(name, "echo started\n");
    testing::WriteText(home_ / name, "echo started\n");
  }
  EXPECT_EQ(Out("echo only"), "only\n");
}

TEST_F(BashTest, WorksInTheProjectAndNowhereElse) {
  testing::WriteText(outside_ / "secret", "secret\n");
  Write("mine", "mine\n");
  EXPECT_EQ(Out("cat mine; echo new >made"), "mine\n");
  EXPECT_EQ(Read("made"), "new\n");
  const ToolResult read = Bash("cat " + (outside_ / "secret").string());
  EXPECT_EQ(Code(read), "COMMAND_FAILED");
  ASSERT_EQ(read.denials.size(), 1u) << read.text;
  EXPECT_NE(read.denials[0].find("filesystem: {read:"), std::string::npos);
  EXPECT_EQ(Code(Bash("echo x >" + (outside_ / "planted").string())), "COMMAND_FAILED");
  EXPECT_FALSE(fs::exists(outside_ / "planted"));
}

// In both tiers: prevented where there are namespaces, else undone.
TEST_F(BashTest, WhatGitExecutesStaysWhatItIs) {
  Write(".git/HEAD", "ref: refs/heads/main\n");
  Write(".git/config", "[core]\n");
  Write(".git/hooks/pre-commit", "#!/bin/sh\n");
  fs::create_directories(project_ / ".git/objects");
  fs::create_directories(project_ / ".git/refs");
  for (const sandbox::Namespaces namespaces :
       {sandbox::Namespaces::kAuto, sandbox::Namespaces::kOff}) {
    policy_ = std::make_shared<policy::Policy>(*policy_);
    policy_->namespaces = namespaces;
    policy_->git.commands = policy::GitCommands::kWrite;
    Bash(
        "echo evil >>.git/hooks/pre-commit; echo evil >.git/hooks/post-commit; "
        "echo '[core] hooksPath = evil' >>.git/config; touch .git/objects/free");
    EXPECT_EQ(Read(".git/hooks/pre-commit"), "#!/bin/sh\n");
    EXPECT_EQ(Read(".git/config"), "[core]\n");
    EXPECT_FALSE(fs::exists(project_ / ".git/hooks/post-commit"));
    EXPECT_TRUE(fs::remove(project_ / ".git/objects/free")) << "the rest of it is free";
  }
}

TEST_F(BashTest, ATimeoutEndsAllThatItStarted) {
  const std::string command = "echo begun; (trap '' TERM; touch written; sleep " + long_ +
                              " && touch late) & sleep " + long_;
  const ToolResult result =
      testing::WithLongerDeadlines(project_ / "written", [&](std::chrono::milliseconds deadline) {
        return Bash(command, R"(,"timeout_ms":)" + std::to_string(deadline.count()));
      });
  EXPECT_EQ(Code(result), "TIMED_OUT");
  EXPECT_EQ(ParseJson(result.data)->Find("stdout")->AsString(), "begun\n")
      << "what there was is kept";
  EXPECT_TRUE(testing::ProcessesWith(long_).empty());
  EXPECT_FALSE(fs::exists(project_ / "late"));
}

TEST_F(BashTest, WhatItLeavesInTheBackgroundEndsWithIt) {
  EXPECT_EQ(Out("(sleep " + long_ + " && touch late) >/dev/null 2>&1 & echo started"), "started\n");
  EXPECT_TRUE(testing::ProcessesWith(long_).empty());
  EXPECT_FALSE(fs::exists(project_ / "late"));
  EXPECT_EQ(Out("(sleep 0.3; touch late) & wait; echo done"), "done\n");
  EXPECT_TRUE(fs::exists(project_ / "late"));
}

TEST_F(BashTest, BadCommandsAreRefused) {
  for (const char* empty : {"", " ", "\n\t "}) EXPECT_EQ(Code(Bash(empty)), "INVALID_ARGUMENT");
  const ToolResult longest = Bash("echo " + std::string(200 << 10, 'a'));
  EXPECT_EQ(Code(longest), "INVALID_ARGUMENT") << longest.text;
  EXPECT_NE(longest.text.find("a string of at most 131071 bytes"), std::string::npos)
      << longest.text;
  EXPECT_EQ(Code(Bash("true", R"(,"foreground":true)")), "INVALID_ARGUMENT");
}

TEST_F(BashTest, ARuleByCommandRefusesIt) {
  policy_->permissions.push_back({.tool = "bash",
                                  .command = "echo hello",
                                  .verdict = policy::Verdict::kAllow,
                                  .where = "policy"});
  policy_->permissions.push_back(
      {.tool = "bash", .verdict = policy::Verdict::kDeny, .reason = "no", .where = "policy"});
  EXPECT_EQ(Code(Bash("echo hello world")), "");
  EXPECT_EQ(Code(Bash("echo hello; touch ran")), "POLICY_DENIED");
  EXPECT_FALSE(std::filesystem::exists(project_ / "ran"));
}

TEST_F(BashTest, IsOffByDefault) {
  policy_->enable_all = false;
  const ToolResult refused = Bash("touch ran");
  EXPECT_EQ(Code(refused), "TOOL_DISABLED");
  EXPECT_FALSE(fs::exists(project_ / "ran"));
  policy_->enabled_tools.insert("bash");
  EXPECT_FALSE(Bash("touch ran").error);
}

}  // namespace
}  // namespace pa
