// What the server believes or executes outside the sandbox, beneath what commands can write: each
// with the real server, as whoever starts it sees it, and each with its twin where no command can
// write.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTrustAnchorsMakefile = R"(.PHONY: hello swap tool
hello:
	@echo hello in $$TMPDIR
swap:
	@sh ./swap.sh
tool:
	@tool
)";

class TrustAnchors : public ::testing::Test {
 protected:
  ProgramResult Call(const std::vector<std::string>& options, const std::string& server) {
    std::vector<std::string> command = {server,   "call",         "--enable",
                                        "all",    "make",         R"({"target":"hello"})",
                                        "--root", project_.root()};
    command.insert(command.end(), options.begin(), options.end());
    return RunProgram({.command = command,
                       .environment = {"HOME=" + project_.home().string(), "PATH=/usr/bin:/bin"},
                       .directory = "/"});
  }
  void Refused(const ProgramResult& result, const std::string& what) {
    EXPECT_EQ(result.exit_code, 125) << result.output;
    const std::string why = "commands can write " + what + ", which lies in the root " +
                            fs::canonical(project_.root()).string();
    EXPECT_TRUE(result.errors.contains(why)) << result.errors;
    EXPECT_EQ(result.errors.find(why), result.errors.rfind(why)) << "once: " << result.errors;
    EXPECT_EQ(result.output.find("hello in"), std::string::npos);
  }
  void Runs(const ProgramResult& result) {
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_NE(result.output.find("hello in"), std::string::npos) << result.output;
  }
  const std::string server_ = BuiltProgram("PA_SERVER");
  Project project_{kTrustAnchorsMakefile};
};

TEST_F(TrustAnchors, APolicyThatCommandsCanWriteIsRefused) {
  for (const fs::path& place :
       {project_.root() / "policy.yaml", project_.outside() / "policy.yaml"}) {
    WriteText(place, "version: 1\n");
  }
  fs::create_symlink(project_.root() / "policy.yaml", project_.outside() / "link.yaml");
  Refused(Call({"--policy", project_.root() / "policy.yaml"}, server_), "this policy");
  Refused(Call({"--policy", project_.outside() / "link.yaml"}, server_), "this policy");
  Runs(Call({"--policy", project_.outside() / "policy.yaml"}, server_));
}

TEST_F(TrustAnchors, AWorkerOrServerThatCommandsCanWriteIsRefused) {
  for (const fs::path& folder : {project_.root() / "bin", project_.outside() / "bin"}) {
    fs::create_directories(folder);
    fs::copy_file(BuiltProgram("PA_WORKER"), folder / "worker");
    fs::copy_file(server_, folder / "server");
  }
  const std::string worker = BuiltProgram("PA_WORKER");
  Refused(Call({"--worker", project_.root() / "bin/worker"}, server_), "the worker");
  Refused(Call({"--worker", worker}, project_.root() / "bin/server"), "this program");
  // By a symlink that a command can exchange, too.
  fs::create_symlink(server_, project_.root() / "bin/link");
  Refused(Call({"--worker", worker}, project_.root() / "bin/link"), "this program");
  Runs(Call({"--worker", project_.outside() / "bin/worker"}, server_));
  Runs(Call({"--worker", worker}, project_.outside() / "bin/server"));
}

// H7: rewritten by a command, read at SIGHUP.
TEST_F(TrustAnchors, AReloadAsksAnew) {
  const fs::path policy = project_.outside() / "policy.yaml";
  WriteText(policy, "version: 1\n");
  McpClient client(project_.Server({"--policy", policy}));
  client.Initialize();
  WriteText(project_.root() / "planted.yaml", "version: 1\nnetwork: full\n");
  fs::remove(policy);
  fs::create_symlink(project_.root() / "planted.yaml", policy);
  client.Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] {
    return client.Errors().find("commands can write this policy") != std::string::npos &&
           client.Errors().find("policy not changed") != std::string::npos;
  })) << client.Errors();
  EXPECT_EQ(client.CallTool("make", {{"target", "hello"}})["success"], true);
}

class TemporaryAnchor : public TrustAnchors, public ::testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Tiers, TemporaryAnchor, ::testing::Values("off", "auto"),
                         [](const auto& tested) { return std::string(tested.param); });

// H6: TMPDIR beneath a root. The command exchanges the instance's directory for a symlink; were it
// there, the server and its worker would empty what it leads to.
TEST_P(TemporaryAnchor, LiesElsewhereThanCommandsCanWrite) {
  const fs::path tmp = project_.root() / "tmp";
  const fs::path victim = project_.outside();
  fs::create_directory(tmp);
  for (int i = 0; i < 4; ++i) WriteText(victim / std::to_string(i) / "work", "mine");
  WriteText(
      project_.root() / "swap.sh",
      "for d in tmp/project-actions-*; do [ -d \"$d\" ] || continue; mv \"$d\" moved; ln -s " +
          victim.string() + " \"$d\"; done; echo tried\n");
  const fs::path policy = project_.home() / "policy.yaml";
  WriteText(policy, std::string("version: 1\nnamespaces: ") + GetParam() + "\n");
  {
    ServerOptions options = project_.Server({"--policy", policy});
    options.environment.push_back("TMPDIR=" + tmp.string());
    McpClient client(options);
    client.Initialize();
    for (const char* target : {"hello", "swap", "hello"}) {
      Json result = client.CallTool("make", {{"target", target}});
      EXPECT_EQ(result["success"], true) << result;
    }
    EXPECT_TRUE(fs::is_empty(tmp));
  }
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(fs::exists(victim / std::to_string(i) / "work")) << i;
}

// Programs of ours come from where no command can write; commands have the PATH of an active venv.
TEST_F(TrustAnchors, ThePathOfAVenvIsForCommands) {
  const fs::path bin = project_.root() / ".venv/bin";
  for (const char* name : {"make", "tool", "python3"}) {
    WriteText(bin / name, "#!/bin/sh\necho from the venv\n");
    fs::permissions(bin / name, fs::perms::owner_all);
  }
  ServerOptions options = project_.Server();
  options.environment.push_back("PATH=" + bin.string() + ":/usr/bin:/bin");
  McpClient client(options);
  client.Initialize();
  EXPECT_EQ(client.CallTool("make", {{"target", "tool"}})["data"]["stdout"], "from the venv\n");
  EXPECT_EQ(client.CallTool("bash", {{"command", "python3"}})["data"]["stdout"], "from the venv\n");
}

TEST_F(TrustAnchors, AProgramThatCouldBePlantedIsNamed) {
  const fs::path bin = project_.root() / "bin";
  WriteText(bin / "make", "#!/bin/sh\n");
  fs::permissions(bin / "make", fs::perms::owner_all);
  ServerOptions options = project_.Server();
  options.environment.push_back("PATH=" + bin.string());
  McpClient client(options);
  client.Initialize();
  const Json refused = client.CallTool("make", {{"target", "hello"}});
  EXPECT_EQ(refused["error"]["code"], "TOOL_NOT_FOUND") << refused;
  EXPECT_NE(refused["error"]["message"].get<std::string>().find((bin / "make").string() +
                                                                ", which is not used"),
            std::string::npos)
      << refused;
}

}  // namespace
}  // namespace pa::testing
