// The program as a person or an administrator meets it: call, policy, doctor, policy files and
// SIGHUP.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/sanitizers.h"
#include "tests/support/terminal.h"

namespace pa::testing {
namespace {

constexpr std::string_view kCommandLineMakefile =
    ".PHONY: hello fail slow\nhello:\n\t@echo hi\nfail:\n\t@exit 3\nslow:\n\t@sleep 60\n";

class CommandLine : public ::testing::Test {
 protected:
  Project project_{kCommandLineMakefile};

  ProgramResult Run(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
    arguments.insert(arguments.begin(), BuiltProgram("PA_SERVER"));
    environment.push_back("HOME=" + project_.home().string());
    return RunProgram({.command = std::move(arguments),
                       .environment = std::move(environment),
                       .directory = project_.root()});
  }
  std::string Policy(std::string_view text) {
    WriteText(project_.home() / "policy.yaml", text);
    return project_.home() / "policy.yaml";
  }
  // As an editor does.
  void ReplacePolicy(std::string_view text) {
    WriteText(project_.home() / "policy.new", text);
    std::filesystem::rename(project_.home() / "policy.new", project_.home() / "policy.yaml");
  }
  ServerOptions With(const std::string& file) const {
    return {.arguments = {"--root", project_.root(), "--policy", file}, .home = project_.home()};
  }
  static bool MakeWorks(McpClient& client) {
    return client.CallTool("make", {{"target", "hello"}})["success"] == true;
  }
};

TEST_F(CommandLine, VersionAndHelp) {
  EXPECT_EQ(Run({"--version"}).exit_code, 0);
  EXPECT_NE(Run({"--help"}).output.find("serve"), std::string::npos);
  EXPECT_NE(Run({"no-such-command"}).exit_code, 0);
}

// With a ring that was made before, and that its list of system calls refuses, libuv would abort.
TEST_F(CommandLine, WhereLibuvMakesRingsServersHaveNone) {
  if (kAddressSanitizer) GTEST_SKIP() << "its runtime has to be the first that is loaded";
  const std::string newer = "LD_PRELOAD=" + BuiltProgram("PA_NEWER_LIBUV");
  const std::string arguments = R"({"command": "echo hello"})";
  const ProgramResult called =
      Run({"call", "--root", project_.root(), "--enable", "bash", "bash", arguments}, {newer});
  EXPECT_TRUE(called.output.contains("hello")) << called.output;
  if (!called.errors.contains("the loop has a ring")) {
    GTEST_SKIP() << "the kernel gives no rings, or libuv is linked in: " << called.errors;
  }

  const std::string doctor = Run({"doctor"}, {newer}).output;
  EXPECT_TRUE(doctor.contains("Server: it confined itself and tried what must fail")) << doctor;

  ServerOptions options = project_.Server();
  options.environment.push_back(newer);
  McpClient client(options);
  EXPECT_FALSE(client.Initialize().is_null());
  EXPECT_TRUE(client.CallTool("bash", {{"command", "true"}}).value("success", false));
  EXPECT_TRUE(client.Errors().contains("the loop has no ring")) << client.Errors();

  std::filesystem::create_directory(project_.home() / "tenants");
  const std::string socket = "unix:" + (project_.home() / "socket").string();
  McpClient daemon(
      {.environment = {newer},
       .command = {BuiltProgram("PA_DAEMON"), "--verbose", "--policy", Policy("version: 1\n"),
                   "--tenants", project_.home() / "tenants", "--listen", socket}});
  const auto has_said = [&](std::string_view text) { return daemon.Errors().contains(text); };
  EXPECT_TRUE(Eventually([&] { return has_said("0 tenants"); })) << daemon.Errors();
  EXPECT_TRUE(has_said("the loop has no ring")) << daemon.Errors();
  daemon.Signal(SIGTERM);
}

// What a shell has in its place differs, and bash looks in the current directory, too.
TEST_F(CommandLine, WithoutAPathCommandsGetTheUsualOne) {
  const std::string server = BuiltProgram("PA_SERVER");
  for (const std::vector<std::string>& unset :
       {std::vector<std::string>{"/usr/bin/env", "-u", "PATH"}, {"/usr/bin/env", "PATH="}}) {
    std::vector<std::string> command = unset;
    for (const std::string& word : {server, std::string("call"), std::string("bash"),
                                    std::string(R"({"command":"echo $PATH"})"),
                                    std::string("--enable"), std::string("all")}) {
      command.push_back(word);
    }
    const ProgramResult result = RunProgram({.command = command,
                                             .environment = {"HOME=" + project_.home().string()},
                                             .directory = project_.root()});
    EXPECT_EQ(result.output, "/usr/local/bin:/usr/bin:/bin\n") << result.errors;
  }
}

// In a bare chroot, say. Where no namespaces are granted, this cannot be tried.
TEST_F(CommandLine, WithoutProcThatIsSaid) {
  if (kAddressSanitizer) GTEST_SKIP() << "AddressSanitizer itself needs /proc";
  if (!NamespacesAreGranted()) GTEST_SKIP() << "no namespaces are granted here";
  const auto without_proc = [&](const std::string& arguments) {
    return RunProgram({.command = {"/bin/sh", "-c",
                                   "unshare --user --map-root-user --mount sh -c '"
                                   "mount -t tmpfs none /proc && exec \"$@\"' sh " +
                                       BuiltProgram("PA_SERVER") + " " + arguments},
                       .environment = {"HOME=" + project_.home().string()},
                       .directory = project_.root()});
  };
  const ProgramResult call = without_proc("call make '{\"target\":\"hello\"}' --enable all");
  EXPECT_EQ(call.exit_code, 125);
  EXPECT_TRUE(call.errors.contains("/proc is missing")) << call.errors;
  EXPECT_FALSE(call.errors.contains("find worker")) << "that is only what comes of it";
  const ProgramResult doctor = without_proc("doctor");
  EXPECT_NE(doctor.exit_code, 0);
  EXPECT_TRUE(doctor.output.contains("not run: /proc is missing")) << doctor.output;
  EXPECT_FALSE(doctor.output.contains("NO Landlock")) << "which needs no /proc";
}

TEST_F(CommandLine, HostsAreExplained) {
  const auto explain = [&](const std::string& subject, const std::string& policy) {
    return Run({"policy", "explain", subject, "--policy", Policy("version: 1\n" + policy)}).output;
  };
  EXPECT_TRUE(explain("example.org:443", "network: none\n").contains("  network: full\n"));
  EXPECT_TRUE(explain("example.org:443", "network: full\n").contains("connect  yes"));
  EXPECT_TRUE(explain("127.0.0.1:5432", "network: none\n").contains("is this machine"));
  WriteText(project_.root() / "a:1", "");
  EXPECT_FALSE(explain("a:1", "network: none\n").contains("connect")) << "a file of the project";
}

TEST_F(CommandLine, AWarningIsPrintedOnce) {
  const ProgramResult found = Run({"call", "glob", R"({"pattern":"/nothing"})"});
  EXPECT_EQ(found.exit_code, 0);
  EXPECT_TRUE(found.output.contains("\nwarning: ")) << found.output;
  EXPECT_FALSE(found.errors.contains("warning: ")) << found.errors;
  // What was streamed comes without it.
  const ProgramResult made =
      Run({"call", "bash", R"({"command":"echo x > .mcp.json; echo hi"})", "--enable", "bash"});
  EXPECT_FALSE(made.output.contains("warning: ")) << made.output;
  EXPECT_TRUE(made.errors.contains("warning: ")) << made.errors;
}

// Colours are for whoever looks.
TEST_F(CommandLine, ColoursOfACommandAreForTerminals) {
  const std::string command = R"({"command":"printf '\\033[31mred\\033[0m\\0\\n'"})";
  const std::vector<std::string> call = {
      BuiltProgram("PA_SERVER"), "call", "bash", command, "--enable", "all"};
  EXPECT_EQ(Run({"call", "bash", command, "--enable", "all"}).output, std::string("red\0\n", 5));
  Terminal terminal(80);
  const pid_t pid = Spawn(terminal.Of({.command = call,
                                       .environment = {"HOME=" + project_.home().string()},
                                       .directory = project_.root()}));
  std::string shown;
  EXPECT_EQ(terminal.Wait(pid, shown), 0) << shown;
  EXPECT_TRUE(shown.contains("\x1b[31mred\x1b[0m\r\n")) << shown;
}

// A FIFO where a file is named: whoever opened it would wait for somebody at its other end.
TEST_F(CommandLine, NothingWaitsForAFifo) {
  const std::string fifo = project_.root() / ".mcp.json";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string server = BuiltProgram("PA_SERVER");
  const std::string hello = R"({"target":"hello"})";
  const std::vector<std::vector<std::string>> commands = {
      {server, "policy", "check", fifo},
      {server, "policy", "show", "--policy", fifo},
      {server, "policy", "explain", "/usr", "--policy", fifo},
      {server, "audit", "verify", fifo},
      {server, "audit", "show", fifo},
      {server, "init", "claude-code"},
      {server, "doctor", "--policy", fifo},
      {server, "trash", "list", "--policy", fifo},
      {server, "serve", "--policy", fifo},
      {server, "serve", "--root", fifo},
      {server, "serve", "--worker", fifo},
      {server, "call", "make_targets", "--policy", fifo},
      {BuiltProgram("PA_WORKER"), "--spec", fifo}};
  const auto ended = [&](std::vector<std::string> command) {
    command.insert(command.begin(), {"timeout", "--kill-after=1", "30"});
    return RunProgram({.command = std::move(command),
                       .environment = {"HOME=" + project_.home().string()},
                       .directory = project_.root()});
  };
  for (const std::vector<std::string>& command : commands) {
    const ProgramResult result = ended(command);
    EXPECT_NE(result.exit_code, 0) << Json(command) << result.output;
    EXPECT_NE(result.exit_code, 124) << Json(command);
  }
  // What cannot be written beside the call is told, and the call runs.
  const ProgramResult call =
      ended({server, "call", "make", hello, "--enable", "make", "--write-spec", fifo});
  EXPECT_EQ(call.exit_code, 0) << call.errors;
  EXPECT_NE(call.errors.find(fifo), std::string::npos) << call.errors;
}

TEST_F(CommandLine, CallExitsAsTheCommandDid) {
  ProgramResult hello = Run({"call", "make", R"({"target":"hello"})", "--enable", "make"});
  EXPECT_EQ(hello.exit_code, 0) << hello.errors;
  EXPECT_NE(hello.output.find("hi\n"), std::string::npos);
  EXPECT_EQ(Run({"call", "make", R"({"target":"fail"})", "--enable", "make"}).exit_code, 2);
  EXPECT_EQ(
      Run({"call", "make", R"({"target":"slow","timeout_ms":300})", "--enable", "make"}).exit_code,
      124);
  EXPECT_EQ(Run({"call", "make", R"({"target":"none"})", "--enable", "make"}).exit_code, 125);
  // By a signal: 128 and its number, as a shell says it.
  for (const auto& [command, status] :
       {std::pair("kill -KILL $$", 128 + SIGKILL), std::pair("kill -TERM $$", 128 + SIGTERM)}) {
    const std::string arguments = Json{{"command", command}}.dump();
    EXPECT_EQ(Run({"call", "bash", arguments, "--enable", "bash"}).exit_code, status) << command;
  }
  EXPECT_EQ(Run({"call", "make", R"({"target":"hello"})"}).exit_code, 125) << "make is not enabled";
}

TEST_F(CommandLine, WhatFailedIsNoSuccessOfItsCommand) {
  project_.InitGit();
  WriteText(project_.home() / ".config/project-actions/policy.yaml",
            "version: 1\ngit: {commands: write}\n");
  const ProgramResult result =
      Run({"call", "bash", R"({"command":"rm -rf .git || true"})", "--enable", "bash"});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_TRUE((result.output + result.errors).contains("protected path damaged")) << result.errors;
}

// Reading it has a deadline of its own, and no outcome.
TEST_F(CommandLine, AMakefileThatTakesTooLongToReadIsOutOfTime) {
  WriteText(project_.root() / "Makefile", "X := $(shell sleep 60)\n.PHONY: x\nx:\n");
  EXPECT_EQ(Run({"call", "make_targets"}).exit_code, 124);
}

TEST_F(CommandLine, ServeEndsCleanlyWhicheverStreamIsClosed) {
  for (const char* streams : {"<&-", "</dev/null >&-", "</dev/null 2>&-", "<&- >&- 2>&-"}) {
    ProgramResult result =
        RunProgram({.command = {"sh", "-c", "exec \"$0\" serve " + std::string(streams),
                                BuiltProgram("PA_SERVER")},
                    .environment = {"HOME=" + project_.home().string()},
                    .directory = project_.root()});
    EXPECT_EQ(result.exit_code, 0) << streams << "\n" << result.errors;
  }
}

TEST_F(CommandLine, WhatIsWrongWithTheOptionsIsAStructuredResultToo) {
  ProgramResult result = Run({"call", "make_targets", "--json", "--root", "/nonexistent"});
  EXPECT_EQ(result.exit_code, 125);
  Json json = Json::parse(result.output, nullptr, false);
  ASSERT_TRUE(json.is_object()) << result.output << result.errors;
  EXPECT_FALSE(json["success"]);
  EXPECT_NE(json["error"]["message"].get<std::string>().find("/nonexistent"), std::string::npos);
}

TEST_F(CommandLine, APolicyIsCheckedFromAnywhere) {
  const std::string file = Policy("version: 1\n");
  ProgramResult result =
      RunProgram({.command = {BuiltProgram("PA_SERVER"), "policy", "check", file},
                  .environment = {"HOME=" + project_.home().string()},
                  .directory = "/"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors, "");
}

TEST_F(CommandLine, VerboseSaysWhereThePolicyComesFrom) {
  const std::string file = Policy("version: 1\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"call", "make_targets"}, {"policy", "show"}, {"doctor"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--policy", file, "--verbose"});
    EXPECT_NE(Run(arguments).errors.find("policy: " + file), std::string::npos) << command[0];
    arguments.pop_back();
    EXPECT_EQ(Run(arguments).errors.find("policy: " + file), std::string::npos) << command[0];
  }
}

TEST_F(CommandLine, CallPrintsTheStructuredResultOnOneLine) {
  ProgramResult result = Run({"call", "make_targets", "--json"});
  Json json = Json::parse(result.output, nullptr, false);
  ASSERT_TRUE(json.is_object()) << result.output << result.errors;
  EXPECT_TRUE(json["success"]);
  EXPECT_EQ(result.output.find('\n'), result.output.size() - 1);
}

TEST_F(CommandLine, PolicyErrorsNameThePlaceAndNothingStarts) {
  std::string file = Policy("version: 1\nlimts:\n  memory: 1GiB\n");
  ProgramResult check = Run({"policy", "check", file});
  EXPECT_NE(check.exit_code, 0);
  EXPECT_NE((check.output + check.errors).find("policy.yaml:2:1"), std::string::npos)
      << check.output << check.errors;
  EXPECT_NE((check.output + check.errors).find("did you mean"), std::string::npos);
  ProgramResult serve = Run({"serve", "--policy", file});
  EXPECT_NE(serve.exit_code, 0);
  EXPECT_EQ(serve.output, "");
  EXPECT_EQ(Run({"policy", "check", Policy("version: 1\n")}).exit_code, 0);
}

TEST_F(CommandLine, KeysThatAreNotBuiltYetAreRefusedWithASentence) {
  for (const char* line : {"git: {signing: on}\n", "git: {signing: inherit}\n", "tenants: {}\n"}) {
    ProgramResult check = Run({"policy", "check", Policy(std::string("version: 1\n") + line)});
    EXPECT_NE(check.exit_code, 0) << line;
    EXPECT_NE((check.output + check.errors).find("not built"), std::string::npos)
        << line << check.output << check.errors;
  }
}

TEST_F(CommandLine, PolicySchemaIsJsonAndShowHasEveryKey) {
  Json schema = Json::parse(Run({"policy", "schema"}).output, nullptr, false);
  ASSERT_TRUE(schema.is_object());
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  Json shown = Json::parse(Run({"policy", "show", "--json"}).output, nullptr, false);
  EXPECT_TRUE(shown.is_object());
  EXPECT_EQ(Run({"policy", "explain", "make"}).exit_code, 0);
}

TEST_F(CommandLine, PolicyDecidesOverCalls) {
  std::string file = Policy(
      "version: 1\ntools: {enable: [make]}\npermissions:\n"
      "  - {tool: make, target: \"fa*\", decision: deny, reason: \"not today\"}\n");
  McpClient client(
      {.arguments = {"--root", project_.root(), "--policy", file}, .home = project_.home()});
  client.Initialize();
  EXPECT_TRUE(client.CallTool("make", {{"target", "hello"}})["success"]);
  Json denied = client.CallTool("make", {{"target", "fail"}});
  EXPECT_EQ(denied["error"]["code"], "POLICY_DENIED") << denied;
  EXPECT_NE(denied["error"].dump().find("not today"), std::string::npos);
}

TEST_F(CommandLine, SighupReadsThePolicyAgainAllOrNothing) {
  std::string file = Policy("version: 1\n");
  McpClient client(With(file));
  client.Initialize();
  EXPECT_FALSE(MakeWorks(client));
  Policy("version: 1\ntools: {enable: [make]}\n");
  client.Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return MakeWorks(client); })) << client.Errors();
  EXPECT_FALSE(client.notifications().empty()) << "the list of tools has changed";
  Policy("version: 1\ntools: {enable: [mkae]}\n");
  client.Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return client.Errors().find("mkae") != std::string::npos; }));
  EXPECT_TRUE(MakeWorks(client)) << "the policy that was in force stays";
}

TEST_F(CommandLine, SighupWhileTheServerStartsIsNotItsEnd) {
  for (int i = 0; i < 10; ++i) {
    const std::string file = Policy("version: 1\n");
    McpClient client(With(file));
    while (ChildrenOf(client.pid()).empty()) std::this_thread::yield();
    // The policy is being read: whole, whichever it is.
    ReplacePolicy("version: 1\ntools: {enable: [make]}\n");
    client.Signal(SIGHUP);
    client.Initialize();
    EXPECT_TRUE(Eventually([&] { return MakeWorks(client); })) << client.Errors();
  }
}

// The server has confined itself by then, to what stood there.
TEST_F(CommandLine, SighupReadsAPolicyThatAnEditorHasReplaced) {
  const std::string file = Policy("version: 1\n");
  McpClient client(With(file));
  client.Initialize();
  EXPECT_FALSE(MakeWorks(client));
  ReplacePolicy("version: 1\ntools: {enable: [make]}\n");
  client.Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return MakeWorks(client); })) << client.Errors();
}

// While the policy is being read, the next one comes.
TEST_F(CommandLine, SighupsInARowEndWithTheLastPolicy) {
  const std::string without = "version: 1\n";
  const std::string with = without + "tools: {enable: [make]}\n";
  McpClient client(With(Policy(with)));
  client.Initialize();
  // Some of the delays end between the reading and its end.
  for (int delay = 0; delay < 24; ++delay) {
    const bool works = delay % 2 == 1;
    ReplacePolicy(works ? without : with);
    client.Signal(SIGHUP);
    std::this_thread::sleep_for(std::chrono::milliseconds(delay));
    ReplacePolicy(works ? with : without);
    client.Signal(SIGHUP);
    ASSERT_TRUE(Eventually([&] { return MakeWorks(client) == works; })) << client.Errors();
  }
}

TEST_F(CommandLine, SighupRefusesWhatTheServerHasGivenUp) {
  const std::string file = Policy("version: 1\ntools: {enable: [make]}\n");
  McpClient client(With(file));
  client.Initialize();
  const std::string log = project_.outside() / "log/audit.jsonl";
  const std::string less = "version: 1\ntools: {enable: [make]}\nlimits: {memory: 1GiB}\n";
  const auto refuses = [&](const std::string& line, const std::string& told) {
    Policy(less + line);
    client.Signal(SIGHUP);
    EXPECT_TRUE(Eventually([&] { return client.Errors().contains(told); })) << client.Errors();
    EXPECT_TRUE(client.Errors().contains("start the server anew")) << client.Errors();
    EXPECT_TRUE(MakeWorks(client)) << "its helpers keep the policy before, too";
  };
  refuses("network: loopback\njobs: {ports: loopback}\n", "\"jobs.ports\"");
  refuses("audit: {path: " + log + "}\n", project_.outside().string() + "/log");
  EXPECT_FALSE(std::filesystem::exists(log));
  McpClient anew(With(file));
  anew.Initialize();
  EXPECT_TRUE(MakeWorks(anew));
  EXPECT_TRUE(std::filesystem::exists(log)) << "as it is told";
}

// It can write the whole directory, to make the next file of the log there.
TEST_F(CommandLine, AnAuditLogAmongTheUsersFilesIsWarnedOf) {
  for (const char* log : {"~/audit.jsonl", "~/log/audit.jsonl"}) {
    const std::string file =
        Policy(std::string("version: 1\naudit: {path: ") + log + "}\nnamespaces: auto\n");
    McpClient client(With(file));
    client.Initialize();
    EXPECT_EQ(client.Errors().contains("name a directory of its own in audit.path"),
              std::string_view(log) == "~/audit.jsonl")
        << client.Errors();
  }
}

TEST_F(CommandLine, TheServerConfinesItself) {
  McpClient client({.arguments = {"--root", project_.root()}, .home = project_.home()});
  client.Initialize();
  const std::string status = ReadText("/proc/" + std::to_string(client.pid()) + "/status");
  EXPECT_TRUE(status.contains("\nNoNewPrivs:\t1\n")) << status;
  if (!kAddressSanitizer) {
    EXPECT_TRUE(status.contains("\nSeccomp:\t2\n")) << status;
  }
  // Root keeps what decides whose files it may touch (sandbox/capabilities.h).
  const std::string kept = geteuid() == 0 ? "000000000000001b" : "0000000000000000";
  EXPECT_TRUE(status.contains("\nCapEff:\t" + kept + "\n")) << status;
}

TEST_F(CommandLine, DoctorKnowsThisMachine) {
  ProgramResult doctor = Run({"doctor", "--json"});
  Json report = Json::parse(doctor.output, nullptr, false);
  ASSERT_TRUE(report.is_object()) << doctor.output << doctor.errors;
  EXPECT_EQ(doctor.exit_code == 0, report["complete"] == true) << report;
  EXPECT_FALSE(report["protections"].empty());
  Json can = Json::array();
  if (report["kernel"]["landlock_abi"] < 2) can.push_back("open other files of its user");
  if (kAddressSanitizer) can.insert(can.end(), {"start programs", "connect to the Internet"});
  EXPECT_EQ(report["server"]["error"], "") << report;
  EXPECT_EQ(report["server"]["can"], can) << report;
}

// What the policy gives the server itself is said, too.
TEST_F(CommandLine, DoctorKnowsThatAServerOfPortsConnects) {
  const std::string file = Policy("version: 1\nnetwork: loopback\njobs: {ports: loopback}\n");
  const ProgramResult doctor = Run({"doctor", "--json", "--policy", file});
  const Json report = Json::parse(doctor.output, nullptr, false);
  ASSERT_TRUE(report.is_object()) << doctor.output << doctor.errors;
  const Json can = report["server"]["can"];
  EXPECT_NE(std::ranges::find(can, Json("connect to the Internet")), can.end()) << report;
}

TEST_F(CommandLine, WhatAPolicyRelaxesIsShownEverywhere) {
  const std::string file = Policy("version: 1\ntools: {enable: [make]}\nnetwork: full\n");
  const auto names = [](const Json& relaxations) {
    Json found = Json::array();
    for (const Json& relaxation : relaxations) {
      found.push_back(relaxation["name"].get<std::string>() + " " +
                      relaxation["from"].get<std::string>());
    }
    return found;
  };
  const Json expected = Json::array({"full_network " + file + ":3:10"});
  const auto doctor = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"doctor", "--json"});
    return names(Json::parse(Run(options).output, nullptr, false)["relaxations"]);
  };
  EXPECT_EQ(doctor({"--policy", file}), expected);
  EXPECT_EQ(doctor({}), Json::array());
  const auto dry_run = [&](std::vector<std::string> options) {
    options.insert(options.begin(),
                   {"call", "make", R"({"target":"hello","dry_run":true})", "--json"});
    const Json result = Json::parse(Run(options).output, nullptr, false);
    return names(result["data"]["confinement"]["relaxations"]);
  };
  EXPECT_EQ(dry_run({"--policy", file}), expected);
  EXPECT_EQ(dry_run({"--enable", "make"}), Json::array());
  const Json shown = Json::parse(Run({"policy", "show", "--json", "--policy", file}).output);
  EXPECT_EQ(names(shown["relaxations"]), expected);
  const std::string line = "relaxed: full_network (network: full, " + file + ":3:10): ";
  EXPECT_NE(Run({"policy", "check", file}).output.find(line), std::string::npos);
}

TEST_F(CommandLine, EnvironmentEnablesTools) {
  ProgramResult result =
      Run({"call", "make", R"({"target":"hello"})"}, {"ENABLE_ADDITIONAL_TOOLS=make,git_add"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

}  // namespace
}  // namespace pa::testing
