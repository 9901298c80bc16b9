// The policies of docs/examples against real calls: what each refuses, beside what it allows.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

// Every target does what recipe.sh says; a test writes it.
constexpr std::string_view kPolicyExamplesMakefile =
    ".PHONY: build test test-unit test-publish deploy undeploy release publish\n"
    "build test test-unit test-publish deploy undeploy release publish:\n\t@sh ./recipe.sh\n";

// Without a network there is not even a socket, so nobody needs to listen.
constexpr std::string_view kSocket = "exec bash -c 'exec 3<>/dev/udp/127.0.0.1/9'";

std::string Example(const std::string& name) {
  return BuiltProgram("PA_EXAMPLES") + "/" + name + ".yaml";
}

std::string Code(const Json& result) {
  return result.contains("error") ? result["error"]["code"].get<std::string>() : "";
}

// A home with secrets and, in ~/src/project, a repository.
class Home : public ::testing::Test {
 protected:
  Home() {
    WriteText(home_ / ".ssh/id_ed25519", "private key\n");
    WriteText(home_ / ".cargo/registry/crate", "crate\n");
    WriteText(home_ / ".gitconfig", "[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n");
    WriteText(root_ / "Makefile", kPolicyExamplesMakefile);
    WriteText(root_ / "recipe.sh", "echo done\n");
    WriteText(root_ / "main.c", "int hunter2;\n");
    WriteText(root_ / ".env", "PASSWORD=hunter2\n");
    WriteText(root_ / ".env.example", "PASSWORD=\n");
    WriteText(root_ / ".github/ci.yml", "original\n");
    Git({"init", "-q", "-b", "main"});
  }

  ProgramResult Git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "git");
    return RunProgram({.command = std::move(arguments),
                       .environment = {"HOME=" + home_.string(), "GIT_CONFIG_NOSYSTEM=1"},
                       .directory = root_});
  }

  TempDir dir_;
  fs::path home_ = fs::canonical(dir_.path()) / "home";
  fs::path root_ = home_ / "src/project";
};

// A server under one of the examples, as its first lines say that it is started.
class Under : public Home {
 protected:
  explicit Under(std::string example) : example_(std::move(example)) {}

  ServerOptions Options() const {
    return {.arguments = {"--policy", Example(example_)},
            .environment = {"GITHUB_TOKEN=token"},
            .directory = root_,
            .home = home_};
  }
  void Start() { client_.emplace(Options()).Initialize(); }
  // Where the system refuses namespaces.
  void StartWithoutNamespaces() {
    ServerOptions options = Options();
    options.command = {BuiltProgram("PA_DENY"),
                       std::to_string(SYS_unshare),
                       "0",
                       std::to_string(CLONE_NEWUSER | CLONE_NEWNS),
                       std::to_string(EPERM),
                       BuiltProgram("PA_SERVER"),
                       "serve"};
    client_.emplace(options).Initialize();
  }
  Json Call(std::string_view tool, Json arguments) {
    return client_->CallTool(tool, std::move(arguments));
  }
  Json Make(const std::string& target, std::string_view recipe) {
    WriteText(root_ / "recipe.sh", recipe);
    return Call("make", {{"target", target}});
  }
  Json Read(const std::string& path) { return Call("read", {{"path", path}}); }
  Json Write(const std::string& path) {
    return Call("write", {{"path", path}, {"content", "x\n"}, {"create_parents", true}});
  }
  Json Commit() {
    Call("git_add", {{"paths", {"main.c"}}});
    return Call("git_commit", {{"message", "by the agent"}});
  }
  // Outside the sandbox the same command can.
  void ExpectNoNetwork(const std::string& target) {
    const Json result = Make(target, kSocket);
    EXPECT_EQ(Code(result), "COMMAND_FAILED") << result;
    const ProgramResult outside =
        RunProgram({.command = {"sh", "-c", std::string(kSocket)}, .directory = root_});
    EXPECT_EQ(outside.exit_code, 0) << outside.errors;
  }
  void ExpectWorkflowStays(const std::string& target) {
    EXPECT_NE(Code(Write(".github/new.yml")), "");
    Make(target, "echo evil >>.github/ci.yml; echo evil >.github/new.yml; echo good >>main.c");
    EXPECT_EQ(ReadText(root_ / ".github/ci.yml"), "original\n");
    EXPECT_FALSE(fs::exists(root_ / ".github/new.yml"));
    EXPECT_EQ(ReadText(root_ / "main.c"), "int hunter2;\ngood\n");
  }

  std::string example_;
  std::optional<McpClient> client_;
};

TEST_F(Home, EachExampleLoadsAndRelaxesWhatItSays) {
  std::map<std::string, std::string> relaxed = {{"ci-agent.yaml", "set_variable"},
                                                {"paranoid.yaml", ""},
                                                {"shared-server.yaml", ""},
                                                {"single-developer.yaml", ""}};
  for (const auto& entry : fs::directory_iterator(BuiltProgram("PA_EXAMPLES"))) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path());
    EXPECT_TRUE(ReadText(entry.path())
                    .starts_with("# yaml-language-server: "
                                 "$schema=file:///usr/share/project-actions/policy.schema.json\n"));
    const ProgramResult check =
        RunProgram({.command = {BuiltProgram("PA_SERVER"), "policy", "check", entry.path()},
                    .environment = {"HOME=" + home_.string()}});
    EXPECT_EQ(check.exit_code, 0) << check.errors;
    const auto expected = relaxed.extract(entry.path().filename());
    ASSERT_FALSE(expected.empty());
    const std::size_t at = check.output.find("relaxed: ");
    EXPECT_EQ(at != std::string::npos, !expected.mapped().empty()) << check.output;
    if (at == std::string::npos) continue;
    EXPECT_TRUE(check.output.substr(at).starts_with("relaxed: " + expected.mapped()));
    EXPECT_EQ(check.output.find("relaxed: ", at + 1), std::string::npos) << check.output;
  }
  EXPECT_TRUE(relaxed.empty());
}

class SingleDeveloper : public Under {
 protected:
  SingleDeveloper() : Under("single-developer") { Start(); }
};

TEST_F(SingleDeveloper, BuildsWithoutAQuestion) {
  EXPECT_EQ(Make("test", "echo tested")["data"]["stdout"], "tested\n");
  EXPECT_EQ(Make("undeploy", "echo gone")["data"]["stdout"], "gone\n");
  EXPECT_EQ(Code(Call("bash", {{"command", "true"}})), "TOOL_DISABLED");
}

TEST_F(SingleDeveloper, DeploysOnlyWhenTheUserSaysSo) {
  for (const char* target : {"deploy", "release"}) {
    EXPECT_EQ(Code(Make(target, "touch deployed")), "APPROVAL_DECLINED") << "it cannot ask";
    EXPECT_FALSE(fs::exists(root_ / "deployed"));
  }
  client_.emplace(Options());
  client_->Initialize("2025-11-25", kElicitation);
  const int id = client_->StartTool("make", {{"target", "deploy"}});
  Json question = client_->Read();
  ASSERT_EQ(question["method"], "elicitation/create");
  client_->SendLine(Json{{"jsonrpc", "2.0"},
                         {"id", question["id"]},
                         {"result", {{"action", "accept"}, {"content", {{"approve", true}}}}}}
                        .dump());
  EXPECT_TRUE(client_->Await(id)["result"]["structuredContent"]["success"]);
  EXPECT_TRUE(fs::exists(root_ / "deployed"));
}

TEST_F(SingleDeveloper, KeysAreReadByNobody) {
  EXPECT_TRUE(Read("main.c")["success"]);
  EXPECT_EQ(Code(Read((home_ / ".ssh/id_ed25519").string())), "INVALID_PATH");
  EXPECT_EQ(Make("test", "cat main.c")["data"]["stdout"], "int hunter2;\n");
  Json theft = Make("test", "cat " + (home_ / ".ssh/id_ed25519").string());
  EXPECT_EQ(Code(theft), "COMMAND_FAILED");
  EXPECT_EQ(theft["data"]["denials"][0]["path"], (home_ / ".ssh/id_ed25519").string()) << theft;
}

TEST_F(SingleDeveloper, PasswordsOfTheProjectAreNotShown) {
  EXPECT_EQ(Code(Read(".env")), "POLICY_DENIED");
  EXPECT_TRUE(Read(".env.example")["success"]);
  EXPECT_EQ(Code(Write("server/.env")), "POLICY_DENIED");
  EXPECT_TRUE(Write("server/main.c")["success"]);
  const Json found = Call("grep", {{"pattern", "hunter2"}, {"path", "main.c"}});
  EXPECT_TRUE(found["success"]) << found;
  EXPECT_EQ(Code(Call("grep", {{"pattern", "hunter2"}, {"path", ".env"}})), "POLICY_DENIED");
}

TEST_F(SingleDeveloper, CommitsInTheUsersNameAndRunsHooks) {
  EXPECT_TRUE(Commit()["success"]);
  EXPECT_EQ(Git({"log", "--format=%an"}).output, "Ada Lovelace\n");
  WriteText(root_ / ".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
  fs::permissions(root_ / ".git/hooks/pre-commit", fs::perms::owner_all);
  WriteText(root_ / "main.c", "int more;\n");
  EXPECT_EQ(Code(Commit()), "COMMAND_FAILED");
}

TEST_F(SingleDeveloper, NothingLeavesAndWorkflowsStay) {
  ExpectNoNetwork("test");
  ExpectWorkflowStays("test");
}

TEST_F(SingleDeveloper, WhatIsDeletedLiesInTheTrash) {
  EXPECT_TRUE(Call("delete", {{"path", "main.c"}})["success"]);
  EXPECT_FALSE(fs::exists(root_ / "main.c"));
  EXPECT_FALSE(fs::is_empty(home_ / ".local/state/project-actions/trash"));
}

class CiAgent : public Under {
 protected:
  CiAgent() : Under("ci-agent") { Start(); }
};

TEST_F(CiAgent, BuildsAndTestsAndNothingElse) {
  EXPECT_TRUE(Make("build", "touch built")["success"]);
  EXPECT_TRUE(Make("test-unit", "touch tested")["success"]);
  EXPECT_EQ(Code(Make("publish", "touch published")), "POLICY_DENIED");
  EXPECT_TRUE(fs::exists(root_ / "built") && fs::exists(root_ / "tested"));
  EXPECT_FALSE(fs::exists(root_ / "published"));
  EXPECT_EQ(Code(Call("bash", {{"command", "true"}})), "TOOL_DISABLED");
}

TEST_F(CiAgent, CommitsInTheNameThatTheJobHasSet) {
  EXPECT_EQ(Code(Commit()), "COMMAND_FAILED") << "the account's name is none";
  Git({"config", "user.name", "Job"});
  Git({"config", "user.email", "job@example.org"});
  WriteText(root_ / ".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
  fs::permissions(root_ / ".git/hooks/pre-commit", fs::perms::owner_all);
  const Json commit = Commit();
  EXPECT_TRUE(commit["success"]) << "no hook runs: " << commit;
  EXPECT_EQ(Git({"log", "--format=%an"}).output, "Job\n");
}

TEST_F(CiAgent, TokensOfTheJobAreNotPassed) {
  EXPECT_EQ(Make("test", "echo \"$CI:$GITHUB_TOKEN\"")["data"]["stdout"], "true:\n");
  ExpectNoNetwork("test");
  ExpectWorkflowStays("test");
}

TEST_F(CiAgent, FilesAreOfLimitedSize) {
  EXPECT_TRUE(Make("test", "truncate -s 256M file")["success"]);
  EXPECT_FALSE(Make("test", "truncate -s 257M file")["success"]);
  EXPECT_EQ(fs::file_size(root_ / "file"), 256u << 20);
}

class Paranoid : public Under {
 protected:
  Paranoid() : Under("paranoid") {}
  void StartIfItCanRun() {
    if (!NamespacesAreGranted()) GTEST_SKIP() << "no namespaces are granted here";
    Start();
  }
};

TEST_F(Paranoid, RunsNothingWithoutNamespaces) {
  StartWithoutNamespaces();
  const Json refused = Make("test", "touch ran");
  EXPECT_EQ(Code(refused), "SANDBOX_UNAVAILABLE") << refused;
  EXPECT_FALSE(fs::exists(root_ / "ran"));
  example_ = "single-developer";
  StartWithoutNamespaces();
  EXPECT_TRUE(Make("test", "touch ran")["success"]) << "as others do";
  EXPECT_TRUE(fs::exists(root_ / "ran"));
}

TEST_F(Paranoid, RunsWhereDoctorSaysThatItCan) {
  Start();
  const Json result = Make("test", "touch ran");
  EXPECT_EQ(Code(result), NamespacesAreGranted() ? "" : "SANDBOX_UNAVAILABLE") << result;
  EXPECT_EQ(fs::exists(root_ / "ran"), NamespacesAreGranted());
}

TEST_F(Paranoid, OnlyReadsAndTests) {
  ASSERT_NO_FATAL_FAILURE(StartIfItCanRun());
  if (IsSkipped()) return;
  EXPECT_TRUE(Make("test", "true")["success"]);
  EXPECT_EQ(Code(Make("test-publish", "touch ran")), "POLICY_DENIED");
  EXPECT_FALSE(fs::exists(root_ / "ran"));
  EXPECT_EQ(Code(Write("new.c")), "TOOL_DISABLED");
  EXPECT_TRUE(Read("main.c")["success"]);
  EXPECT_EQ(Code(Read(".env.example")), "POLICY_DENIED");
  EXPECT_TRUE(Call("glob", {{"pattern", "*.c"}})["success"]);
  EXPECT_TRUE(Call("grep", {{"pattern", "hunter2"}})["success"]);
  EXPECT_TRUE(Call("make_targets", Json::object())["success"]);
}

TEST_F(Paranoid, NothingOfTheHomeIsThere) {
  const std::string crate = (home_ / ".cargo/registry/crate").string();
  example_ = "single-developer";
  Start();
  EXPECT_EQ(Make("test", "cat " + crate)["data"]["stdout"], "crate\n");
  example_ = "paranoid";
  ASSERT_NO_FATAL_FAILURE(StartIfItCanRun());
  if (IsSkipped()) return;
  EXPECT_EQ(Code(Make("test", "cat " + crate)), "COMMAND_FAILED");
  EXPECT_TRUE(Make("test", "cat main.c")["success"]);
}

TEST_F(Paranoid, TestsCannotChangeWhatIsRunOutside) {
  ASSERT_NO_FATAL_FAILURE(StartIfItCanRun());
  if (IsSkipped()) return;
  Make("test", "echo evil >>Makefile; echo evil >.envrc; echo good >main.o");
  EXPECT_EQ(ReadText(root_ / "Makefile"), kPolicyExamplesMakefile);
  EXPECT_FALSE(fs::exists(root_ / ".envrc"));
  EXPECT_EQ(ReadText(root_ / "main.o"), "good\n");
  ExpectNoNetwork("test");
}

// journald's socket, as far as a client sees it.
class Journal {
 public:
  explicit Journal(const fs::path& path) : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    fs::create_directories(path.parent_path());
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    if (bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      ADD_FAILURE() << "bind " << path << ": " << strerror(errno);
    }
  }
  std::string ReadAll() {
    std::string all;
    char buffer[65536];
    for (ssize_t n; (n = recv(fd_.get(), buffer, sizeof buffer, MSG_DONTWAIT)) > 0;) {
      all.append(buffer, static_cast<std::size_t>(n));
    }
    return all;
  }

 private:
  UniqueFd fd_;
};

// What a user says beside the administrator's policy.
struct User {
  std::string policy = {};
  std::vector<std::string> options = {};
  std::vector<std::string> environment = {};
};

// The example is the administrator's: the server finds it in /etc, in a mount namespace of the
// test's own.
class SharedServer : public Home {
 protected:
  SharedServer() {
    WriteText(etc_ / "project-actions/policy.yaml", ReadText(Example("shared-server")));
    WriteText(home_ / "with-token.yaml", "version: 1\nenvironment: {pass: [GITHUB_TOKEN]}\n");
  }
  void SetUp() override {
    if (In({"true"}).exit_code == 0) return;
    GTEST_SKIP() << "nothing can be mounted here: " << In({"true"}).errors;
  }

  ProgramResult In(std::vector<std::string> command, std::vector<std::string> environment = {}) {
    const std::string script = "mount -t overlay -o lowerdir=" + etc_.string() +
                               ":/etc overlay /etc && mount --bind " + run_.string() +
                               " /run && exec \"$0\" \"$@\"";
    command.insert(command.begin(),
                   {"unshare", geteuid() == 0 ? "-m" : "-Urm", "sh", "-c", script});
    environment.push_back("HOME=" + home_.string());
    return RunProgram(
        {.command = std::move(command), .environment = std::move(environment), .directory = root_});
  }
  Json Call(const std::string& tool, const Json& arguments, const User& user = {}) {
    const fs::path file = home_ / ".config/project-actions/policy.yaml";
    if (!user.policy.empty()) WriteText(file, "version: 1\n" + user.policy);
    std::vector<std::string> command = {BuiltProgram("PA_SERVER"), "call", tool, arguments.dump(),
                                        "--json"};
    command.insert(command.end(), user.options.begin(), user.options.end());
    const ProgramResult result = In(std::move(command), user.environment);
    fs::remove(file);
    recorded_ = journal_.ReadAll();
    Json json = Json::parse(result.output, nullptr, false);
    EXPECT_TRUE(json.is_object()) << result.output << result.errors;
    return json;
  }
  Json Make(const std::string& target, const User& user = {}) {
    return Call("make", {{"target", target}}, user);
  }

  fs::path base_ = home_.parent_path();
  fs::path etc_ = base_ / "etc";
  fs::path run_ = base_ / "run";
  Journal journal_{run_ / "systemd/journal/socket"};
  std::string recorded_;  // of the last call
};

TEST_F(SharedServer, WhatItGivesToEverybody) {
  EXPECT_EQ(Make("test")["data"]["stdout"], "done\n");
  EXPECT_NE(recorded_.find("SYSLOG_IDENTIFIER=project-actions"), std::string::npos) << recorded_;
  EXPECT_FALSE(fs::exists(home_ / ".local/state/project-actions/audit"));
  EXPECT_EQ(Code(Make("deploy")), "POLICY_DENIED");
  EXPECT_EQ(Code(Call("bash", {{"command", "true"}})), "TOOL_DISABLED");
  EXPECT_TRUE(Call("write", {{"path", "a.pub"}, {"content", ""}})["success"]);
  EXPECT_EQ(Code(Call("write", {{"path", "a.pem"}, {"content", ""}})), "POLICY_DENIED");
  EXPECT_NE(Code(Call("write", {{"path", ".github/a"}, {"content", ""}})), "");
}

TEST_F(SharedServer, NoCallWithoutTheJournal) {
  WriteText(root_ / "recipe.sh", "touch ran\n");
  fs::remove(run_ / "systemd/journal/socket");
  const Json result = Make("test");
  EXPECT_NE(result.dump().find("cannot be recorded"), std::string::npos) << result;
  EXPECT_FALSE(fs::exists(root_ / "ran"));
}

TEST_F(SharedServer, AUserCanBeStricter) {
  EXPECT_TRUE(Call("write", {{"path", "a"}, {"content", ""}})["success"]);
  const User user = {
      "roots: [~/src/project]\ntools: {enable: [make]}\nfilesystem: {toolchains: none}\n"
      "limits: {wall_time: 5m, concurrent: 1}\npermissions:\n"
      "  - {tool: make, target: build, decision: deny, reason: not by agents}\n"};
  EXPECT_TRUE(Make("test", user)["success"]);
  EXPECT_EQ(Code(Make("build", user)), "POLICY_DENIED");
  EXPECT_EQ(Code(Call("write", {{"path", "b"}, {"content", ""}}, user)), "TOOL_DISABLED");
}

// No rule of the user's counts against the administrator's.
TEST_F(SharedServer, AUsersRuleDoesNotAllowWhatIsDenied) {
  const User user = {"permissions: [{tool: make, target: deploy, decision: allow}]\n"};
  EXPECT_EQ(Code(Make("deploy", user)), "POLICY_DENIED");
  EXPECT_TRUE(Make("test", user)["success"]);
}

TEST_F(SharedServer, AUserCannotBeWeaker) {
  const std::vector<User> weaker = {
      {"roots: [\"~\"]"},
      {"tools: {enable: [make, bash]}"},
      {"tools: {enable: [all]}"},
      {"filesystem: {read: [~/.ssh]}"},
      {"filesystem: {write: [~/.cargo]}"},
      {"network: loopback"},
      {"network: full"},
      {"namespaces: off"},
      {"environment: {pass: [GITHUB_TOKEN]}"},
      {"limits: {wall_time: 11m}"},
      {"limits: {memory: 3GiB}"},
      {"limits: {processes: 257}"},
      {"limits: {file_size: 2GiB}"},
      {"limits: {output_total: 65MiB}"},
      {"limits: {concurrent: 3}"},
      {"limits: {queue: 17}"},
      {"audit: {to: none}"},
      {"audit: {to: file}"},
      {.options = {"--root", home_}},
      {.options = {"--enable", "make,bash"}},
      {.options = {"--policy", home_ / "with-token.yaml"}},
      {.environment = {"ENABLE_ADDITIONAL_TOOLS=all"}},
      {.environment = {"PROJECT_ACTIONS_POLICY=" + (home_ / "with-token.yaml").string()}}};
  WriteText(root_ / "recipe.sh", "touch ran\n");
  for (const User& user : weaker) {
    const Json result = Make("test", user);
    EXPECT_EQ(Code(result), "INVALID_ARGUMENT") << user.policy << result;
    EXPECT_NE(result.dump().find("/etc/project-actions/policy.yaml:"), std::string::npos)
        << user.policy << result;
    EXPECT_FALSE(fs::exists(root_ / "ran")) << user.policy;
  }
  EXPECT_TRUE(Make("test")["success"]);
  EXPECT_TRUE(fs::exists(root_ / "ran"));
}

}  // namespace
}  // namespace pa::testing
