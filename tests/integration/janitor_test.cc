// The supervisor opens nothing in a project but with O_PATH, and a janitor that is killed stops
// nobody (docs/adr/0060).
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/seen_opens.h"
#include "tests/support/temp_dir.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

std::string NameOf(pid_t pid) {
  std::string name = ReadText("/proc/" + std::to_string(pid) + "/comm");
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

// The janitor of the server, and the processes that it has.
std::vector<pid_t> JanitorsOf(pid_t server) {
  std::vector<pid_t> found = ChildrenOf(server);
  std::erase_if(found, [](pid_t pid) { return NameOf(pid) != "pa-janitor"; });
  if (found.empty()) return found;
  const std::vector<pid_t> chores = ChildrenOf(found.front());
  found.insert(found.end(), chores.begin(), chores.end());
  return found;
}

class Janitor : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    project_.InitGit();
    WriteText(project_.root() / "a.txt", "a\n");
    WriteText(project_.root() / "sub/b.txt", "b\n");
    EXPECT_EQ(project_.Git({"add", "-A"}).exit_code, 0);
    EXPECT_EQ(project_.Git({"commit", "-q", "-m", "one"}).exit_code, 0);
    WriteText(project_.home() / ".config/project-actions/policy.yaml",
              "version: 1\nnamespaces: " + std::string(GetParam()) + "\n");
  }

  Project project_{".PHONY: t\nt: ## say it\n\t@echo t >made\n"};
};

TEST_P(Janitor, TheServerOpensNothingInTheProject) {
  SeenOpens seen(project_.root());
  if (!seen) GTEST_SKIP() << seen.why_not();
  std::ifstream(project_.root() / "a.txt").get();
  EXPECT_TRUE(seen.By(getpid()).contains("a.txt")) << "else this shows nothing";
  McpClient client(project_.Server());
  client.Initialize();
  const auto nothing = [&](const std::string& after) {
    std::string opened;
    for (const std::string& path : seen.By(client.pid())) opened += " " + path;
    EXPECT_EQ(opened, "") << "after " << after;
  };
  nothing("the start");
  const auto call = [&](const std::string& tool, const Json& arguments) {
    const Json result = client.CallTool(tool, arguments);
    nothing(tool + " " + arguments.dump() + " " + result.dump().substr(0, 300));
    return result.value("success", false);
  };
  // The agent's lock stays in the way of git; then the user removes it.
  const auto without_lock = [&] { fs::remove(project_.root() / ".git/index.lock"); };
  call("make_targets", Json::object());
  call("make", {{"target", "t"}});
  call("make", {{"target", "t"}});
  call("bash", {{"command", "true"}});
  call("bash", {{"command", "mkdir -p d/e; touch d/e/f; git status --short"}});
  call("bash", {{"command", "git init -q new; echo evil >new/.git/hooks/pre-commit"}});
  call("bash", {{"command", "echo evil >.git/config; mkdir .vscode; echo x >.vscode/tasks.json"}});
  call("bash", {{"command", "chmod 0 d/e"}});
  call("bash",
       {{"command", "mkdir -p n/empty; rm n/empty/x; ulimit -f 1; head -c 9999 /dev/zero >n/f"}});
  call("bash", {{"command", "rm -r n d; touch .git/index.lock"}});
  call("read", {{"path", "a.txt"}});
  call("write", {{"path", "c.txt"}, {"content", "c\n"}});
  call("edit", {{"path", "a.txt"}, {"old_text", "a"}, {"new_text", "A"}});
  call("glob", {{"pattern", "**/*.txt"}});
  call("grep", {{"pattern", "b"}});
  call("git_add", {{"paths", {"a.txt"}}});
  without_lock();
  EXPECT_TRUE(call("git_add", {{"paths", {"a.txt"}}}));
  EXPECT_TRUE(call("git_commit", {{"message", "two"}}));
  WriteText(project_.root() / ".git/hooks/pre-commit", "#!/bin/sh\ntouch hooked\n");
  fs::permissions(project_.root() / ".git/hooks/pre-commit", fs::perms::owner_all);
  WriteText(project_.root() / "a.txt", "B\n");
  EXPECT_TRUE(call("git_add", {{"paths", {"a.txt"}}}));
  EXPECT_TRUE(call("git_commit", {{"message", "three"}}));
  EXPECT_TRUE(fs::exists(project_.root() / "hooked"));
  call("delete", {{"path", "c.txt"}});
  call("bash", {{"command", "true"}, {"working_directory", "sub"}});
  client.CloseInput();
  client.WaitForExit();
  nothing("the end");
}

// As an agent on a kernel that does not keep it from signalling would do.
TEST_P(Janitor, KilledAllTheTimeItHoldsUpNobodyAndProtects) {
  McpClient client(project_.Server());
  client.Initialize();
  client.CallTool("bash", {{"command", "true"}});
  std::atomic<bool> stop = false;
  std::atomic<int> kills = 0;
  std::atomic<int> done = 0;
  std::thread killer([&] {
    std::chrono::milliseconds respite{40};
    for (int rounds = 1; !stop; ++rounds) {
      for (const pid_t pid : JanitorsOf(client.pid())) kills += kill(pid, SIGKILL) == 0 ? 1 : 0;
      // Now and then long enough for a call, however slow the machine is.
      const bool long_enough = rounds % 8 == 0;
      std::this_thread::sleep_for(long_enough ? respite : std::chrono::milliseconds(3));
      if (long_enough && done == 0) respite += std::chrono::milliseconds(40);
    }
  });
  // On a slow machine it takes more of them until there were kills, and one that was done in spite.
  constexpr int kLeastKills = 10;
  for (int i = 0; i < 30 || (i < 300 && (done == 0 || kills <= kLeastKills)); ++i) {
    const Json result = client.CallTool(
        "bash", {{"command", "mkdir -p x" + std::to_string(i) + "; echo '{}' >.mcp.json"}});
    const bool ran = result.value("success", false);
    const std::string text = result.dump();
    done += ran ? 1 : 0;
    // Nothing in between: it was put back, or the call says that this is not known.
    EXPECT_TRUE(!ran || !fs::exists(project_.root() / ".mcp.json")) << text;
  }
  stop = true;
  killer.join();
  const Json last = client.CallTool("bash", {{"command", "true"}});
  EXPECT_TRUE(last.value("success", false)) << last.dump();
  EXPECT_FALSE(fs::exists(project_.root() / ".mcp.json"));
  EXPECT_GT(done, 0);
  EXPECT_GT(kills, kLeastKills) << "else this shows nothing";
}

INSTANTIATE_TEST_SUITE_P(Tiers, Janitor, ::testing::Values("auto", "off"));

}  // namespace
}  // namespace pa::testing
