// `project-actions policy allow`: from a refused call to a policy under which it succeeds, as a
// person does it; and that no confined command can do it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/json.h"
#include "tests/support/project.h"
#include "tests/support/terminal.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPolicyBegin =
    "version: 1  # of mine\n"
    "tools: {enable: [make]}\n"
    "filesystem:\n"
    "  # Nothing yet.\n"
    "  write: []\n";

class PolicyAllow : public ::testing::Test {
 protected:
  PolicyAllow() {
    WriteText(file(), "the file\n");
    WriteText(policy_, kPolicyBegin);
  }
  std::string file() const { return fs::canonical(project_.outside()).string() + "/file"; }
  std::string other() const { return fs::canonical(project_.outside()).string() + "/other"; }

  ProgramResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), BuiltProgram("PA_SERVER"));
    return RunProgram({.command = std::move(arguments),
                       .environment = {"HOME=" + project_.home().string()},
                       .directory = project_.root()});
  }
  ProgramResult Allow(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"policy", "allow"});
    return Run(std::move(arguments));
  }
  // `make t`, whose recipe this is.
  ProgramResult Make(const std::string& recipe, std::vector<std::string> options = {}) {
    WriteText(project_.root() / "Makefile", ".PHONY: t\nt:\n\t@" + recipe + "\n");
    options.insert(options.begin(), {"call", "make", R"({"target":"t"})"});
    return Run(std::move(options));
  }
  void Refused(const ProgramResult& result, std::string_view why) {
    EXPECT_EQ(result.exit_code, 1) << result.output;
    EXPECT_TRUE(result.errors.contains(why)) << result.errors;
    EXPECT_TRUE(result.errors.ends_with("; nothing was written\n")) << result.errors;
  }

  Project project_{""};
  const fs::path policy_ = project_.home() / ".config/project-actions/policy.yaml";
};

TEST_F(PolicyAllow, FromARefusalToALine) {
  chmod(policy_.c_str(), 0640);
  const ProgramResult refused = Make("cat " + file());
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_TRUE(refused.errors.ends_with("to allow it: project-actions policy allow LAST\n"))
      << refused.errors;
  Refused(Allow({"LAST"}), "no terminal to ask on; --yes writes without asking");
  EXPECT_EQ(ReadText(policy_), kPolicyBegin);

  const ProgramResult allowed = Allow({"LAST", "--yes"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.errors;
  const std::string line = "  read: [\"" + file() + "\"]\n";
  EXPECT_TRUE(allowed.output.starts_with("make t in ")) << allowed.output;
  EXPECT_TRUE(allowed.output.contains("\n+" + line)) << allowed.output;
  EXPECT_TRUE(allowed.output.contains("relaxed: readable_path (filesystem.read: " + file()))
      << allowed.output;
  std::string wanted(kPolicyBegin);
  wanted.insert(wanted.find("  # Nothing"), line);
  EXPECT_EQ(ReadText(policy_), wanted);
  struct stat status{};
  ASSERT_EQ(stat(policy_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640u);

  const ProgramResult now = Make("cat " + file());
  EXPECT_EQ(now.exit_code, 0) << now.errors;
  EXPECT_FALSE(now.errors.contains("policy allow")) << now.errors;
  EXPECT_EQ(Run({"policy", "check", policy_}).exit_code, 0);
  const ProgramResult again = Allow({"LAST"});
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_TRUE(again.output.contains("nothing has to change")) << again.output;
}

TEST_F(PolicyAllow, AFileIsMadeWhereThereIsNone) {
  fs::remove_all(project_.home() / ".config");
  Make("cat " + file(), {"--enable", "make"});
  const ProgramResult allowed = Allow({"LAST", "--yes"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.errors;
  EXPECT_EQ(ReadText(policy_), "version: 1\nfilesystem: {read: [\"" + file() + "\"]}\n");
}

TEST_F(PolicyAllow, OfSeveralLinesNoneIsWritten) {
  WriteText(other(), "another\n");
  const ProgramResult refused = Make("cat " + file() + " " + other());
  EXPECT_TRUE(refused.errors.ends_with(
      "to see the lines to choose from: project-actions policy allow LAST\n"))
      << refused.errors;
  const ProgramResult several = Allow({"LAST", "--yes"});
  Refused(several, "allow one of them by its line");
  for (const std::string& path : {file(), other()}) {
    const std::string line = "filesystem: {read: [\"" + path + "\"]}";
    EXPECT_TRUE(several.output.contains("  project-actions policy allow '" + line + "'\n"))
        << several.output;
    EXPECT_EQ(Allow({line, "--yes"}).exit_code, 0);
  }
  EXPECT_EQ(Make("cat " + file() + " " + other()).exit_code, 0);
  EXPECT_TRUE(ReadText(policy_).contains("read: [\"" + file() + "\", \"" + other() + "\"]"))
      << ReadText(policy_);
}

TEST_F(PolicyAllow, TheFileThatIsNamed) {
  const std::string named = project_.outside() / "named.yaml";
  Refused(Allow({"network: full", "--yes", "--policy", named}), "No such file or directory");
  EXPECT_FALSE(fs::exists(named));
  WriteText(named, "version: 1\ntools: {enable: [make]}\naudit: {to: none}\n");
  const ProgramResult refused = Make("cat " + file(), {"--policy", named});
  const std::string line = "filesystem: {read: [\"" + file() + "\"]}";
  EXPECT_TRUE(refused.errors.ends_with("to allow it: project-actions policy allow '" + line +
                                       "' --policy " + named + "\n"))
      << refused.errors;
  EXPECT_TRUE(Allow({"LAST", "--yes", "--policy", named}).errors.contains("keeps no audit log"));
  EXPECT_EQ(Allow({line, "--yes", "--policy", named}).exit_code, 0);
  EXPECT_EQ(Make("cat " + file(), {"--policy", named}).exit_code, 0);
  EXPECT_EQ(ReadText(policy_), kPolicyBegin);
}

TEST_F(PolicyAllow, WhatWouldNotLoadIsRefused) {
  Refused(Allow({"network: ful", "--yes"}), "did you mean 'full'?");
  Refused(Allow({"filesystem: {raed: [/a]}", "--yes"}), "did you mean 'filesystem.read'?");
  Refused(Allow({"filesystem: {write: [\"" + policy_.parent_path().string() + "\"]}", "--yes"}),
          "commands can write this policy");
  Refused(Allow({"LAST", "--yes"}), "no call in ");
  EXPECT_EQ(ReadText(policy_), kPolicyBegin);
  WriteText(policy_, "version: 1\nnetwrok: none\n");
  Refused(Allow({"network: full", "--yes"}), "did you mean 'network'?");
  EXPECT_EQ(Allow({"--yes"}).exit_code, 2);
}

TEST_F(PolicyAllow, ASymlinkStaysAndItIsSaidWhereItLeads) {
  const fs::path real = project_.home() / "dotfiles/policy.yaml";
  fs::create_directories(real.parent_path());
  fs::rename(policy_, real);
  fs::create_symlink(real, policy_);
  const ProgramResult allowed = Allow({"network: full", "--yes"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.errors;
  EXPECT_TRUE(allowed.output.contains(policy_.string() + " leads to ")) << allowed.output;
  EXPECT_TRUE(fs::is_symlink(policy_));
  EXPECT_TRUE(ReadText(real).ends_with("network: full\n"));
}

// The log has what hostile code has chosen: paths. Of a line nothing but its one key and its values
// can come into the policy.
TEST_F(PolicyAllow, ALogBringsNothingButValues) {
  const fs::path log = project_.home() / ".local/state/project-actions/audit/audit.jsonl";
  const auto logged = [&](const std::vector<std::string>& lines) {
    const Json entry = {
        {"time", 1},
        {"metadata", {{"correlation_uid", "a"}}},
        {"api", {{"operation", "make\x1b[2J"}}},
        {"unmapped", {{"phase", "end"}, {"chain", {{"sequence", 1}}}, {"allow_with", lines}}}};
    WriteText(log, entry.dump() + "\n");
  };
  const std::string path = "/a\"]}\nnetwork: full\n# : '\\x'";
  const auto quoted = [](const std::string& text) { return Json(text).dump(); };
  logged({"filesystem: {read: [" + quoted(path) + "]}"});
  const ProgramResult allowed = Allow({"LAST", "--yes"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.errors;
  EXPECT_FALSE(allowed.output.contains('\x1b')) << allowed.output;
  const ProgramResult shown = Run({"policy", "show", "--json"});
  const Json policy = Json::parse(shown.output);
  EXPECT_TRUE(shown.output.contains(quoted(path))) << shown.output;
  const std::string text = ReadText(policy_);
  EXPECT_TRUE(text.contains("  read: [" + quoted(path) + "]\n")) << text;
  EXPECT_FALSE(text.contains("\nnetwork")) << text;
  for (const char* line : {"network: full\nnamespaces: off", "network: full\n---\nnetwork: none",
                           "{network: full, namespaces: off}"}) {
    logged({line});
    Refused(Allow({"LAST", "--yes"}), "line");
    EXPECT_EQ(ReadText(policy_), text) << line;
  }
}

TEST_F(PolicyAllow, ALineThatCannotBeReadIsNotPassedOver) {
  const fs::path log = project_.home() / ".local/state/project-actions/audit/audit.jsonl";
  const std::string denied = Json({{"time", 1},
                                   {"metadata", {{"correlation_uid", "a"}}},
                                   {"api", {{"operation", "make"}}},
                                   {"unmapped",
                                    {{"phase", "end"},
                                     {"chain", {{"sequence", 1}}},
                                     {"allow_with", {"network: loopback"}}}}})
                                 .dump() +
                             "\n";
  for (const std::string& broken :
       {std::string(R"({"unmapped":{"allow_with":["network: full"]})"), std::string(70'000, 'x')}) {
    WriteText(log, denied + broken + "\n");
    Refused(Allow({"LAST", "--yes"}), "audit.jsonl:2 cannot be read and may be the last denial");
    EXPECT_EQ(ReadText(policy_), kPolicyBegin);
  }
  WriteText(log, "{\"allow_with\"\n" + denied);  // what lies before the last denial is no matter
  EXPECT_EQ(Allow({"LAST", "--yes"}).exit_code, 0);
  EXPECT_TRUE(ReadText(policy_).contains("network: loopback")) << ReadText(policy_);
}

class PolicyAllowConfined : public PolicyAllow,
                            public ::testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Tiers, PolicyAllowConfined, ::testing::Values("off", "auto"),
                         [](const auto& tested) { return std::string(tested.param); });

// A confined command has the program and all its reasons: the file is not the command's to write,
// nor the log to read.
TEST_P(PolicyAllowConfined, CannotWidenItsOwnPolicy) {
  const std::string server = BuiltProgram("PA_SERVER");
  const fs::path copy = project_.outside() / "bin/project-actions";
  fs::create_directories(copy.parent_path());
  fs::copy_file(server, copy);
  const std::string text = std::string("version: 1\nnamespaces: ") + GetParam() +
                           "\ntools: {enable: [make]}\nfilesystem: {read: [\"" + copy.string() +
                           "\"]}\n";
  WriteText(policy_, text);
  Make("cat " + file());
  const std::string call = copy.string() + " policy allow ";
  for (const std::string& attempt : {call + "'network: full' --yes", call + "LAST --yes",
                                     call + "'network: full' --yes --policy " + policy_.string()}) {
    const ProgramResult result = Make(attempt);
    EXPECT_NE(result.exit_code, 0) << result.output;
    EXPECT_TRUE((result.output + result.errors).contains("nothing was written"))
        << "it ran, and was refused: " << attempt << result.output << result.errors;
    EXPECT_EQ(ReadText(policy_), text) << attempt;
  }
  fs::remove(policy_);
  const ProgramResult made =
      Make(call + "'network: full' --yes",
           {"--enable", "make", "--policy", (WriteText(other(), text), other())});
  EXPECT_NE(made.exit_code, 0) << made.output;
  EXPECT_FALSE(fs::exists(policy_));
  // The same program, outside.
  const ProgramResult outside =
      RunProgram({.command = {copy, "policy", "allow", "network: full", "--yes"},
                  .environment = {"HOME=" + project_.home().string()},
                  .directory = project_.root()});
  EXPECT_EQ(outside.exit_code, 0) << outside.errors;
  EXPECT_EQ(ReadText(policy_), "version: 1\nnetwork: full\n");
}

// What somebody at a terminal answers.
TEST_F(PolicyAllow, APersonIsAsked) {
  Terminal terminal(80);
  const auto say = [&](std::string_view answer, std::string& shown) {
    const pid_t pid = Spawn(
        terminal.Of({.command = {BuiltProgram("PA_SERVER"), "policy", "allow", "network: full"},
                     .environment = {"HOME=" + project_.home().string()},
                     .directory = project_.root()}));
    shown = terminal.ReadUntil("[y/N] ");
    terminal.Type(answer);
    return terminal.Wait(pid, shown);
  };
  std::string shown;
  EXPECT_EQ(say("n\n", shown), 1) << shown;
  EXPECT_TRUE(shown.contains("+network: full")) << shown;
  EXPECT_TRUE(shown.contains("relaxed: full_network")) << shown;
  EXPECT_EQ(ReadText(policy_), kPolicyBegin);
  EXPECT_EQ(say("y\n", shown), 0) << shown;
  EXPECT_EQ(ReadText(policy_), std::string(kPolicyBegin) + "network: full\n");
}

}  // namespace
}  // namespace pa::testing
