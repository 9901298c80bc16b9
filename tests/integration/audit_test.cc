// What a security team reads: real servers, the lines that they leave, and what happens when they
// cannot.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/unique_fd.h"
#include "tests/support/launch.h"
#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/terminal.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAuditMakefile = R"(.PHONY: hello fail slow theft
hello:
	@echo hello
fail:
	@exit 3
slow:
	@sleep 30
theft:
	@cat $(OUTSIDE)/secret
)";

class Audit : public ::testing::Test {
 protected:
  fs::path Log() const {
    return project_.home() / ".local/state/project-actions/audit/audit.jsonl";
  }
  std::vector<Json> Lines() const {
    std::vector<Json> lines;
    std::ifstream file(Log());
    for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  void Policy(const std::string& text) {
    WriteText(project_.home() / ".config/project-actions/policy.yaml", "version: 1\n" + text);
  }
  // `project-actions audit ...`
  Launch Command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {BuiltProgram("PA_SERVER"), "audit"});
    return {.command = std::move(arguments),
            .environment = {"HOME=" + project_.home().string(), "TZ=UTC"},
            .directory = project_.root()};
  }
  ProgramResult Verify(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), "verify");
    return RunProgram(Command(std::move(arguments)));
  }
  ProgramResult Show(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), "show");
    return RunProgram(Command(std::move(arguments)));
  }

  Project project_{kAuditMakefile};
};

std::size_t LinesIn(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST_F(Audit, ShowIsATableOfTheCalls) {
  McpClient client(project_.Server({"--enable", "make,bash"}));
  client.Initialize();
  client.CallTool("make", {{"target", "hello"}});
  client.CallTool("make", {{"target", "fail"}});
  client.CallTool("bash", {{"command", "echo \x1b[2J" + std::string(200, 'x')}});
  const ProgramResult all = Show();
  EXPECT_EQ(all.exit_code, 0) << all.errors;
  EXPECT_EQ(all.errors, "");
  ASSERT_EQ(LinesIn(all.output), 3u) << all.output;
  const std::string directory = fs::canonical(project_.root());
  EXPECT_TRUE(all.output.contains("make               COMMAND_FAILED")) << all.output;
  EXPECT_TRUE(all.output.contains(directory + "  hello\n")) << all.output;
  EXPECT_TRUE(all.output.contains("echo \\u{1b}[2J" + std::string(200, 'x') + "\n"));
  EXPECT_EQ(LinesIn(Show({"--tool", "bash"}).output), 1u);
  EXPECT_EQ(LinesIn(Show({"--outcome", "ok,failed", "--since", "1h"}).output), 3u);
  EXPECT_EQ(LinesIn(Show({"--outcome", "COMMAND_FAILED", "--until", "2100-01-01"}).output), 1u);
  const ProgramResult none = Show({"--until", "1h"});
  EXPECT_EQ(none.output, "");
  EXPECT_FALSE(none.errors.empty());
  EXPECT_EQ(Show({"--json"}).output, ReadText(Log()));
  EXPECT_EQ(RunProgram(Command({"show", "-", "--json"}), ReadText(Log())).output, ReadText(Log()));
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--since", "soon"}, {"--outcome", "fial"}}) {
    EXPECT_EQ(Show(wrong).exit_code, 2);
  }
}

TEST_F(Audit, ShowFitsATerminal) {
  McpClient client(project_.Server({"--enable", "make,bash"}));
  client.Initialize();
  client.CallTool("bash", {{"command", "echo \x1b[2J\u009b" + std::string(200, 'x')}});
  client.CallTool("make", {{"target", "fail"}});
  for (const char* json : {"", "--json"}) {
    Terminal terminal(80);
    std::vector<std::string> arguments = {"show"};
    if (*json != '\0') arguments.emplace_back(json);
    std::string shown;
    EXPECT_EQ(terminal.Wait(Spawn(terminal.Of(Command(arguments))), shown), 0) << shown;
    EXPECT_FALSE(shown.contains('\x1b') || shown.contains("\u009b")) << shown;
    if (*json != '\0') continue;
    EXPECT_TRUE(shown.contains("COMMAND_FAILED")) << shown;
    std::istringstream lines(shown);
    for (std::string line; std::getline(lines, line);) {
      while (!line.empty() && line.back() == '\r') line.pop_back();
      const auto characters = std::ranges::count_if(
          line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; });
      EXPECT_LE(characters, 80) << line;
    }
  }
}

TEST_F(Audit, ShowSaysThatThereIsNoLogYet) {
  const ProgramResult none = Show();
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(none.errors.starts_with("no call has been recorded here yet: ")) << none.errors;
  const ProgramResult named = Show({"/none/audit.jsonl"});
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_TRUE(named.errors.starts_with("open ")) << named.errors;
}

TEST_F(Audit, ShowReportsDamage) {
  McpClient client(project_.Server());
  client.Initialize();
  client.CallTool("make", {{"target", "hello"}});
  std::ofstream(Log(), std::ios::app) << "{\"time\":\n" << std::string(70'000, 'x') << "\nhal";
  const ProgramResult shown = Show();
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_EQ(LinesIn(shown.output), 1u) << shown.output;
  for (const char* place : {"audit.jsonl:3: ", "audit.jsonl:4: ", "audit.jsonl:5: ", "3 lines"}) {
    EXPECT_TRUE(shown.errors.contains(place)) << shown.errors;
  }
  fs::permissions(Log(), fs::perms::none);
  if (geteuid() != 0) {
    EXPECT_EQ(Show().exit_code, 2);
  }
  EXPECT_EQ(Show({project_.home() / "none"}).exit_code, 2);
}

// logrotate renames the file, and the server makes another.
TEST_F(Audit, ShowFollowsTheLogAcrossARotation) {
  McpClient client(project_.Server());
  client.Initialize();
  client.CallTool("make", {{"target", "hello"}});
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  Launch launch = Command({"show", "--follow"});
  launch.out = to.get();
  const pid_t pid = Spawn(launch);
  to.reset();
  std::string shown;
  const auto row = [&](const std::string& end) {
    while (!shown.contains(end)) {
      char buffer[4096];
      const ssize_t got = read(from.get(), buffer, sizeof buffer);
      if (got <= 0) return false;
      shown.append(buffer, static_cast<std::size_t>(got));
    }
    return true;
  };
  EXPECT_TRUE(row(" hello\n"));
  client.CallTool("make", {{"target", "fail"}});
  EXPECT_TRUE(row(" fail\n"));
  fs::rename(Log(), Log().string() + ".1");
  client.CallTool("make", {{"target", "theft"}});
  EXPECT_TRUE(row(" theft\n"));
  client.CallTool("make", {{"target", "none"}});
  EXPECT_TRUE(row(" none\n"));
  EXPECT_EQ(LinesIn(shown), 4u) << shown;
  kill(pid, SIGTERM);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(LinesIn(Show({Log().string() + ".1", Log()}).output), 4u);
}

// `audit show --follow | head -1` ends.
TEST_F(Audit, ShowEndsWithItsReader) {
  McpClient client(project_.Server());
  client.Initialize();
  client.CallTool("make", {{"target", "hello"}});
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  Launch launch = Command({"show", "--follow"});
  launch.out = ends[1];
  const pid_t pid = Spawn(launch);
  close(ends[1]);
  close(ends[0]);
  int status = -1;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

// Where there is a daemon it has the line; where there is none, nothing runs.
TEST_F(Audit, ToADaemon) {
  for (const auto& [to, socket] :
       {std::pair<const char*, const char*>{"journal", "/run/systemd/journal/socket"},
        {"syslog", "/dev/log"}}) {
    Policy(std::string("audit: {to: ") + to + "}");
    McpClient client(project_.Server());
    client.Initialize();
    const Json result = client.CallTool("make", {{"target", "hello"}});
    EXPECT_EQ(result["success"], fs::exists(socket)) << result;
    EXPECT_FALSE(fs::exists(Log()));
    EXPECT_NE(Verify().errors.find(socket), std::string::npos) << Verify().errors;
  }
}

// As they are used, however the model wrote them: which file is edited is not hidden in a text.
TEST_F(Audit, ArgumentsAreRecordedAsTheyAreMeant) {
  WriteText(project_.root() / "file", "old");
  const Json edits = {
      {{"file_path", "file"}, {"old_string", "old"}, {"new_string", std::string(1000, 'x')}}};
  McpClient client(project_.Server());
  client.Initialize();
  const Json result = client.CallTool("edit", {{"edits", edits.dump()}, {"dry_run", "true"}});
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_EQ(ReadText(project_.root() / "file"), "old");
  const Json data = Lines().back()["api"]["request"]["data"];
  EXPECT_EQ(data["edits"][0]["path"], "file") << data;
  EXPECT_EQ(data["dry_run"], true) << data;
}

// As it lies there after the death of a server that had written the first of several files.
TEST_F(Audit, WhatTheServerPutsBackAtItsStartIsACall) {
  WriteText(project_.root() / "file", "half done");
  WriteText(project_.root() / "other", "old");
  const auto entry = [&](const char* name) {
    return Json{{"root", fs::canonical(project_.root()).string()},
                {"file", name},
                {"after", Hex(Sha256Of("half done"))},
                {"size", 3}};
  };
  const fs::path journal = project_.home() / ".local/state/project-actions/edits/journal-1";
  WriteText(journal, "project-actions edit 1 cc\n" +
                         Json::array({entry("file"), entry("other")}).dump() + "\noldold");
  {
    McpClient client(project_.Server());
    client.Initialize();
    EXPECT_TRUE(Eventually([&] { return !fs::exists(journal); }));
  }
  EXPECT_EQ(ReadText(project_.root() / "file"), "old");
  const std::vector<Json> lines = Lines();
  ASSERT_EQ(lines.size(), 2u);
  for (const Json& line : lines) {
    EXPECT_EQ(line["src_endpoint"]["name"], "start of the server");
    EXPECT_EQ(line["api"]["operation"], "edit");
  }
  EXPECT_EQ(lines[1]["status_id"], 1);
  McpClient client(project_.Server());
  client.Initialize();
  client.Request("tools/list");
  EXPECT_EQ(Lines().size(), 2u) << "nothing was to be done";
}

TEST_F(Audit, ACallLeavesItsBeginAndItsEnd) {
  McpClient client(project_.Server());
  client.Initialize();
  const Json result = client.CallTool("make", {{"target", "hello"}});
  ASSERT_TRUE(result["success"]) << result;
  const std::vector<Json> lines = Lines();
  ASSERT_EQ(lines.size(), 2u);
  for (const Json& line : lines) {
    EXPECT_EQ(line["class_uid"], 6003);
    EXPECT_EQ(line["type_uid"], 600399);
    EXPECT_EQ(line["api"]["operation"], "make");
    EXPECT_EQ(line["api"]["request"]["data"]["target"], "hello");
    EXPECT_EQ(line["metadata"]["correlation_uid"], result["meta"]["audit_id"]);
    EXPECT_EQ(line["actor"]["user"]["uid"], std::to_string(geteuid()));
    EXPECT_EQ(line["src_endpoint"]["name"], "stdio");
  }
  EXPECT_EQ(lines[0]["status_id"], 0);
  const Json& end = lines[1];
  EXPECT_EQ(end["status_id"], 1);
  EXPECT_EQ(end["action_id"], 1);
  EXPECT_EQ(end["unmapped"]["working_dir"], project_.root().string());
  EXPECT_GT(end["unmapped"]["sandbox"]["landlock_abi"], 0);
  const Json& commands = end["unmapped"]["commands"];
  ASSERT_FALSE(commands.empty());
  EXPECT_EQ(commands.back()["argv"], Json({"make", "--", "hello"}));
  EXPECT_EQ(commands.back()["outcome"], "exited");
  EXPECT_EQ(commands.back()["exit_code"], 0);
  EXPECT_EQ(commands.back()["output_bytes"], 6);
}

TEST_F(Audit, WhatIsRefusedOrFailsIsRecordedToo) {
  Policy("permissions: [{tool: make, target: slow, decision: deny, reason: no}]\nnetwork: full\n");
  McpClient client(project_.Server());
  client.Initialize();
  client.CallTool("make", {{"target", "fail"}});
  client.CallTool("make", {{"target", "slow"}});
  client.CallTool("make", {{"target", 7}});
  client.CallTool("make", {{"target", "none"}});
  client.Request("tools/call", {{"name", "nonsense"}, {"arguments", {{"password", "abc"}}}});
  std::vector<Json> ends;
  for (const Json& line : Lines()) {
    if (line["unmapped"]["phase"] == "end") ends.push_back(line);
  }
  ASSERT_EQ(ends.size(), 5u);
  EXPECT_EQ(ends[0]["status_code"], "COMMAND_FAILED");
  EXPECT_EQ(ends[0]["unmapped"]["decision"]["relaxations"][0]["name"], "full_network");
  EXPECT_EQ(ends[1]["status_code"], "POLICY_DENIED");
  EXPECT_EQ(ends[1]["action_id"], 2);
  EXPECT_EQ(ends[1]["severity_id"], 3);
  EXPECT_TRUE(ends[1]["unmapped"]["commands"].empty());
  EXPECT_EQ(ends[2]["status_code"], "INVALID_ARGUMENT");
  EXPECT_EQ(ends[3]["status_code"], "INVALID_TARGET");
  EXPECT_EQ(ends[4]["api"]["operation"], "nonsense");
  EXPECT_EQ(Verify().exit_code, 0);
}

TEST_F(Audit, WhatCannotBeRecordedDoesNotRun) {
  fs::create_directories(Log());  // a directory stands where the file should
  McpClient client(project_.Server());
  client.Initialize();
  const Json result = client.CallTool("make", {{"target", "hello"}});
  EXPECT_FALSE(result["success"]);
  EXPECT_EQ(result["error"]["code"], "INTERNAL");
  EXPECT_EQ(result.dump().find(Log().string()), std::string::npos) << result;
  EXPECT_FALSE(result.contains("data"));
  fs::remove(Log());
  EXPECT_TRUE(client.CallTool("make", {{"target", "hello"}})["success"]);
}

TEST_F(Audit, NothingIsRecordedWhereThePolicySaysSo) {
  Policy("audit: {to: none}\n");
  McpClient client(project_.Server());
  client.Initialize();
  const Json result = client.CallTool("make", {{"target", "hello"}});
  EXPECT_TRUE(result["success"]);
  EXPECT_FALSE(result["meta"].contains("audit_id"));
  EXPECT_FALSE(fs::exists(Log()));
}

TEST_F(Audit, OnTheDiskBeforeTheCallGoesOn) {
  Policy("audit: {sync: true}\n");
  McpClient client(project_.Server());
  client.Initialize();
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(client.CallTool("make", {{"target", "hello"}})["success"]);
  }
  EXPECT_EQ(Lines().size(), 10u);
  EXPECT_EQ(Verify().exit_code, 0);
}

TEST_F(Audit, AServerThatIsKilledLeavesTheBegin) {
  McpClient client(project_.Server());
  client.Initialize();
  client.StartTool("make", {{"target", "slow"}});
  ASSERT_TRUE(Eventually([&] { return Lines().size() == 1; }));
  kill(client.pid(), SIGKILL);
  ASSERT_TRUE(client.WaitForExit());
  ASSERT_EQ(Lines().size(), 1u);
  EXPECT_EQ(Lines()[0]["unmapped"]["phase"], "begin");
}

TEST_F(Audit, TamperingShows) {
  McpClient client(project_.Server());
  client.Initialize();
  for (int i = 0; i < 3; ++i) client.CallTool("make", {{"target", "hello"}});
  const ProgramResult whole = Verify();
  EXPECT_EQ(whole.exit_code, 0);
  EXPECT_NE(whole.output.find("6 lines, no gap"), std::string::npos) << whole.output;
  std::vector<std::string> lines;
  {
    std::ifstream file(Log());
    for (std::string line; std::getline(file, line);) lines.push_back(line);
  }
  lines.erase(lines.begin() + 2);
  {
    std::ofstream file(Log());
    for (const std::string& line : lines) file << line << '\n';
  }
  const ProgramResult cut = Verify({Log().string()});
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_NE(cut.output.find("audit.jsonl:3: "), std::string::npos) << cut.output;
  EXPECT_EQ(Verify({(project_.home() / "none").string()}).exit_code, 2);
}

TEST_F(Audit, TwoServersKeepOneChain) {
  McpClient one(project_.Server());
  McpClient other(project_.Server());
  one.Initialize();
  other.Initialize();
  for (int i = 0; i < 5; ++i) {
    const int first = one.StartTool("make", {{"target", "hello"}});
    const int second = other.StartTool("make", {{"target", "hello"}});
    ASSERT_FALSE(one.Await(first).is_null());
    ASSERT_FALSE(other.Await(second).is_null());
  }
  EXPECT_EQ(Lines().size(), 20u);
  EXPECT_EQ(Verify().exit_code, 0);
  EXPECT_NE(Lines().front()["actor"]["session"]["uid"], "");
}

// Where the home is the project, as in many a container.
class AuditInTheProject : public Audit {
 protected:
  fs::path State() const { return project_.root() / ".local/state"; }
  std::string Log() const { return ReadText(State() / "project-actions/audit/audit.jsonl"); }
  Json Run(const std::string& policy, const std::string& script) {
    const fs::path file = project_.home() / "policy.yaml";
    WriteText(file, "version: 1\n" + policy);
    WriteText(project_.root() / "Makefile", ".PHONY: t\nt:\n\t@" + script + "\n");
    ServerOptions options = project_.Server({"--policy", file});
    options.home = project_.root();
    McpClient client(options);
    client.Initialize();
    return client.CallTool("make", {{"target", "t"}});
  }
};

TEST_F(AuditInTheProject, WithNamespacesItIsSealed) {
  const std::string require = "namespaces: require\n";
  if (!Run(require + "audit: {to: none}\n", "true")["success"]) {
    GTEST_SKIP() << "no namespaces are granted here";
  }
  Json mine = Run(require, "echo mine >.local/state/mine && cat .local/state/mine");
  EXPECT_EQ(mine["data"]["stdout"], "mine\n") << mine;
  for (const std::string script :
       {"cat .local/state/project-actions/audit/audit.jsonl",
        "echo x >>.local/state/project-actions/audit/audit.jsonl",
        "echo x >.local/state/project-actions/audit/audit.jsonl.1", "mv .local gone",
        "mv .local/state/project-actions/audit gone", "rm -r .local/state/project-actions/audit"}) {
    const std::string before = Log();
    Json refused = Run(require, script);
    EXPECT_EQ(refused["error"]["code"], "COMMAND_FAILED") << script << refused;
    EXPECT_TRUE(Log().starts_with(before)) << script;
    EXPECT_TRUE(refused["meta"].value("warnings", Json::array()).empty()) << refused;
  }
  const ProgramResult verify =
      RunProgram({.command = {BuiltProgram("PA_SERVER"), "audit", "verify"},
                  .environment = {"HOME=" + project_.root().string()},
                  .directory = project_.root()});
  EXPECT_NE(verify.output.find(" 14 lines, no gap"), std::string::npos) << verify.output;
}

// Whoever can open it, if only to read, can hold its lock.
TEST_F(AuditInTheProject, WithNamespacesNobodySeesIt) {
  const auto files = [&](const std::string& namespaces) {
    const fs::path file = project_.home() / "policy.yaml";
    WriteText(file, "version: 1\nnamespaces: " + namespaces + "\n");
    WriteText(project_.root() / "Makefile",
              ".PHONY: $(words $(wildcard .local/state/project-actions/audit/*))-files\n");
    ServerOptions options = project_.Server({"--policy", file});
    options.home = project_.root();
    McpClient client(options);
    client.Initialize();
    return client.CallTool("make_targets", Json::object());
  };
  const Json seen = files("off");
  EXPECT_NE(seen["data"].dump().find("1-files"), std::string::npos) << seen;
  const Json hidden = files("require");
  if (hidden.contains("error")) {
    ASSERT_EQ(hidden["error"]["code"], "SANDBOX_UNAVAILABLE") << hidden;
    GTEST_SKIP() << "no namespaces are granted here";
  }
  EXPECT_NE(hidden["data"].dump().find("0-files"), std::string::npos) << hidden;
}

TEST_F(AuditInTheProject, WithoutNamespacesNothingRuns) {
  Json refused = Run("namespaces: off\n", "touch ran");
  EXPECT_EQ(refused["error"]["code"], "SANDBOX_UNAVAILABLE") << refused;
  EXPECT_NE(refused.dump().find("set audit.path to a file that lies elsewhere"), std::string::npos);
  EXPECT_FALSE(fs::exists(project_.root() / "ran"));
  const std::string elsewhere = (project_.outside() / "log/audit.jsonl").string();
  Json allowed = Run("namespaces: off\naudit: {path: " + elsewhere + "}\n", "touch ran");
  EXPECT_TRUE(allowed["success"]) << allowed;
  EXPECT_TRUE(fs::exists(project_.root() / "ran"));
}

TEST_F(AuditInTheProject, NoSearchBeginsInIt) {
  WriteText(project_.root() / "src/a", "needle\n");
  const auto search = [&](const std::string& path) {
    ServerOptions options = project_.Server();
    options.home = project_.root();
    McpClient client(options);
    client.Initialize();
    return client.CallTool("grep", {{"pattern", "needle"}, {"path", path}});
  };
  EXPECT_EQ(search("src")["data"]["files"], Json({"src/a"}));
  for (const std::string path :
       {".local/state/project-actions/audit", ".local/state/project-actions/audit/audit.jsonl"}) {
    const Json refused = search(path);
    EXPECT_EQ(refused["error"]["code"], "NOT_FOUND") << refused;
    EXPECT_NE(refused["error"]["message"].dump().find("the audit log lies there"),
              std::string::npos);
  }
  const Json around = search(".local");
  EXPECT_TRUE(around["success"]) << around;
}

TEST_F(AuditInTheProject, ItsDirectoryIsNoWorkingDirectory) {
  Json refused = Run("audit: {path: " + (project_.root() / "audit.jsonl").string() + "}\n", "true");
  EXPECT_EQ(refused["error"]["code"], "INVALID_DIRECTORY") << refused;
  EXPECT_NE(refused.dump().find("a directory of its own"), std::string::npos) << refused;
}

}  // namespace
}  // namespace pa::testing
