// `make demo`: an MCP client and the real server on a sample project, told to a person on the
// terminal. Exits non-zero when anything did not happen as it is told.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/mcp_client.h"
#include "tests/support/project.h"
#include "tests/support/run_program.h"

namespace pa::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kMakefile = R"(.PHONY: build test steal

build: ## compile, one file after the other
	@for file in parser lexer codegen; do echo "  CC $$file.c"; sleep 0.4; done; echo "  LD calculator"

test: ## run the tests
	@echo "3 tests, 0 failures"

steal: ## what a hostile change could try: read the user's private key
	@cat "$$HOME/.ssh/id_ed25519"
)";

class Demo {
 public:
  Demo() : project_(kMakefile) {
    project_.InitGit();
    std::ofstream(project_.root() / "calculator.c") << "int main(void) { return 0; }\n";
    std::filesystem::create_directories(project_.home() / ".ssh");
    std::ofstream(project_.home() / ".ssh/id_ed25519") << "-----BEGIN OPENSSH PRIVATE KEY-----\n";
    client_.emplace(project_.Server());
  }

  bool Run() {
    Start();
    ListTargets();
    RunLive();
    StageAndCommit();
    Steal();
    Title(failed_ ? "Something did not go as it should have." : "That is all.");
    return !failed_;
  }

 private:
  void Title(std::string_view text) const {
    std::printf(colours_ ? "\n\x1b[1m%.*s\x1b[0m\n" : "\n%.*s\n", static_cast<int>(text.size()),
                text.data());
  }
  // What the client asks for.
  void Ask(std::string_view tool, const Json& arguments) const {
    std::printf(colours_ ? "\x1b[36m  -> %.*s %s\x1b[0m\n" : "  -> %.*s %s\n",
                static_cast<int>(tool.size()), tool.data(), arguments.dump().c_str());
  }
  static void Tell(const std::string& text) { std::printf("     %s\n", text.c_str()); }
  void Expect(bool held, const char* what) {
    if (held) return;
    failed_ = true;
    std::printf("     FAILED: %s\n", what);
  }
  Json Call(std::string_view tool, const Json& arguments) {
    Ask(tool, arguments);
    return client_->CallTool(tool, arguments);
  }

  void Start() {
    Title("1. A client starts the server on a sample project");
    Tell("project-actions serve --root " + project_.root().string() + " --enable all");
    const Json hello = client_->Initialize();
    Tell("MCP " + hello.value("protocolVersion", "?") + ", " +
         hello["serverInfo"].value("name", "?") + " " + hello["serverInfo"].value("version", "?"));
  }

  void ListTargets() {
    Title("2. Which targets has the project?");
    const Json result = Call("make_targets", Json::object());
    Expect(result.value("success", false), "the targets are listed");
    for (const Json& target : result["data"]["targets"]) {
      Tell(target.value("name", "?") + ": " + target.value("description", ""));
    }
  }

  void RunLive() {
    Title("3. Run one; its output arrives while it runs");
    const Json arguments = {{"target", "build"}};
    Ask("make", arguments);
    const auto begin = Clock::now();
    const int id = client_->StartTool("make", arguments, {{"progressToken", "demo"}});
    Json reply;
    int lines = 0;
    for (;;) {
      reply = client_->Read();
      if (reply.is_null() || reply.value("id", Json()) == id) break;
      const std::chrono::duration<double> since = Clock::now() - begin;
      std::printf("     %4.1f s  %s\n", since.count(),
                  reply["params"].value("message", "").c_str());
      ++lines;
    }
    Expect(lines >= 3, "output arrives line by line");
    const Json& result = reply["result"];
    Expect(!result.value("isError", true), "the target succeeds");
    const std::string text = result["content"][0].value("text", "");
    Tell("result: " + text.substr(0, text.find('\n')));
  }

  void StageAndCommit() {
    Title("4. Stage a file and commit it");
    const Json staged = Call("git_add", {{"paths", {"calculator.c"}}});
    Expect(staged.value("success", false), "the file is staged");
    const Json committed = Call("git_commit", {{"message", "Add the calculator"}});
    Expect(committed.value("success", false), "it is committed");
    const std::string log = project_.Git({"log", "-1", "--format=%h %s", "--stat"}).output;
    Expect(log.find("Add the calculator") != std::string::npos, "git log shows the commit");
    Tell("git log: " + log.substr(0, log.find('\n')));
  }

  void Steal() {
    Title("5. A recipe tries to read the user's private key");
    const Json result = Call("make", {{"target", "steal"}});
    const Json& data = result["data"];
    Expect(!result.value("success", true), "the recipe fails");
    Expect(data.value("stdout", "x").find("PRIVATE") == std::string::npos, "nothing was read");
    const std::string errors = data.value("stderr", "");
    Tell(errors.substr(0, errors.find('\n')));
    Tell(result["error"].value("code", "?") + ": " + result["error"].value("ai_message", ""));
    const std::string key = (project_.home() / ".ssh/id_ed25519").string();
    Tell("");
    Tell("project-actions policy explain " + key);
    Launch explain{.command = {BuiltProgram("PA_SERVER"), "policy", "explain", key, "--root",
                               project_.root().string()}};
    explain.environment = {"PATH=/usr/bin:/bin", "HOME=" + project_.home().string()};
    const ProgramResult explained = RunProgram(std::move(explain));
    Expect(explained.exit_code == 0, "policy explain answers");
    for (std::size_t at = 0; at < explained.output.size();) {
      const std::size_t end = std::min(explained.output.find('\n', at), explained.output.size());
      Tell(explained.output.substr(at, end - at));
      at = end + 1;
    }
  }

  Project project_;
  std::optional<McpClient> client_;
  bool colours_ = isatty(STDOUT_FILENO) == 1;
  bool failed_ = false;
};

}  // namespace
}  // namespace pa::testing

int main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);  // live, also through a pipe
  return pa::testing::Demo().Run() ? 0 : 1;
}
