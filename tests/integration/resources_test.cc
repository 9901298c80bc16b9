// A server that has few descriptors, or little memory: what it cannot do it says, by call, and goes
// on.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/sanitizers.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kResourcesMakefile = ".PHONY: hello\nhello:\n\t@echo hi\n";

class Resources : public ::testing::TestWithParam<const char*> {
 protected:
  fs::path policy() const { return project_.home() / ".config/project-actions/policy.yaml"; }
  void Policy(const std::string& more = "") const {
    WriteText(policy(), std::string("version: 1\nnamespaces: ") + GetParam() + "\n" + more);
  }
  // As a shell starts it that has set `limit`: `-n 64`.
  ServerOptions Limited(const std::string& limit) const {
    ServerOptions options = project_.Server({"--verbose"});
    options.command = {"sh", "-c", "ulimit " + limit + " && exec \"$0\" \"$@\"",
                       BuiltProgram("PA_SERVER"), "serve"};
    return options;
  }

  Project project_{kResourcesMakefile};
};
INSTANTIATE_TEST_SUITE_P(Tiers, Resources, ::testing::Values("auto", "off"),
                         [](const auto& which) { return std::string(which.param); });

// Each policy opens another directory, so nothing that was made for the one serves the next.
TEST_P(Resources, APolicyThatIsReplacedKeepsNoDescriptor) {
  Policy();
  McpClient client(Limited("-n 64"));
  client.Initialize();
  ASSERT_EQ(client.CallTool("bash", {{"command", "true"}})["success"], true);
  for (int i = 0; i < 40; ++i) {
    const fs::path opened = project_.outside() / std::to_string(i);
    fs::create_directories(opened);
    // The same policy twice, too.
    if (i % 8 != 7) Policy("filesystem: {read: [" + opened.string() + "]}\n");
    const std::string before = client.Errors();
    client.Signal(SIGHUP);
    ASSERT_TRUE(Eventually([&] {
      return client.Errors().find("policy read again", before.size()) != std::string::npos;
    })) << client.Errors();
    const Json result = client.CallTool("bash", {{"command", "echo hi"}});
    ASSERT_EQ(result["success"], true) << i << ": " << result;
  }
}

// What one directory's commands leave for the next of them is in the way of the others' at last.
TEST_P(Resources, ManyDirectoriesNeedNoMoreThanThereAre) {
  Policy();
  McpClient client(Limited("-n 64"));
  client.Initialize();
  for (int i = 0; i < 40; ++i) {
    const fs::path directory = project_.root() / std::to_string(i);
    fs::create_directories(directory);
    // More than a result shows: the rest is kept.
    const Json result =
        client.CallTool("bash", {{"command", "head -c 100000 /dev/zero | tr '\\0' x"},
                                 {"working_directory", directory.string()}});
    ASSERT_EQ(result["success"], true) << i << ": " << result;
    ASSERT_EQ(result["meta"].contains("result_uri"), true) << i << ": " << result;
  }
}

// Three kinds of calls, of which each runs in a lane of its own, all at once.
TEST_P(Resources, CallsWaitWhereThereAreFewDescriptors) {
  Policy();
  McpClient client(Limited("-n 64"));
  client.Initialize();
  std::vector<int> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(client.StartTool("make", {{"target", "hello"}}));
    ids.push_back(client.StartTool("make_targets", Json::object()));
    ids.push_back(client.StartTool("read", {{"path", "Makefile"}}));
    ids.push_back(client.StartTool("grep", {{"pattern", "hello"}}));
    ids.push_back(client.StartTool("bash", {{"command", "head -c 100000 /dev/zero | tr '\\0' x"}}));
  }
  for (const int id : ids) {
    const Json reply = client.Await(id);
    EXPECT_EQ(reply["result"]["structuredContent"].value("success", false), true) << reply;
  }
}

// A call that waits has nothing open, whatever it will need when its turn comes: a repository with
// more submodules than there are descriptors, or as many files.
TEST_P(Resources, FiftyCallsAtOnceNeedNoMoreThanThereAre) {
  Policy();
  Json edits = Json::array();
  for (int i = 0; i < 40; ++i) {
    const std::string name = "directory" + std::to_string(i);
    fs::create_directories(project_.root() / name / ".git");
    for (const char* sub : {"objects", "refs", "hooks"}) {
      fs::create_directories(project_.root() / name / ".git" / sub);
    }
    WriteText(project_.root() / name / ".git/HEAD", "ref: refs/heads/main\n");
    WriteText(project_.root() / name / "file", "old\n");
    edits.push_back({{"path", name + "/file"}, {"old", "old"}, {"new", "new"}});
  }
  const std::vector<std::pair<const char*, Json>> kinds = {
      {"bash", {{"command", "head -c 100000 /dev/zero | tr '\\0' x"}}},
      {"edit", {{"edits", edits}, {"dry_run", true}}},
      {"read", {{"path", "Makefile"}}},
      {"make", {{"target", "hello"}}},
      {"make_targets", Json::object()},
      {"grep", {{"pattern", "hello"}}}};
  McpClient client(Limited("-n 64"));
  client.Initialize();
  std::vector<int> ids;
  for (std::size_t i = 0; i < 50; ++i) {
    const auto& [tool, arguments] = kinds[i < 25 ? 0 : i % kinds.size()];
    ids.push_back(client.StartTool(tool, arguments));
  }
  for (const int id : ids) {
    const Json reply = client.Await(id);
    EXPECT_EQ(reply["result"]["structuredContent"].value("success", false), true) << reply;
  }
}

// As many as may run and wait, though fewer can run at once.
TEST_P(Resources, WithFewDescriptorsOnlyThePolicysQueueIsFull) {
  Policy("limits: {concurrent: 2, queue: 3}\n");
  McpClient client(Limited("-n 64"));
  client.Initialize();
  const fs::path go = project_.root() / "go";
  std::vector<int> ids;
  for (int i = 0; i < 8; ++i) {
    ids.push_back(client.StartTool("bash", {{"command", "until [ -e go ]; do sleep 0.01; done"}}));
  }
  int busy = 0;
  for (std::size_t i = 5; i < ids.size(); ++i) {
    const Json error = client.Await(ids[i])["result"]["structuredContent"]["error"];
    EXPECT_EQ(error.value("code", ""), "BUSY") << error;
    EXPECT_NE(error.value("message", "").find("waiting already"), std::string::npos) << error;
    ++busy;
  }
  EXPECT_EQ(busy, 3);
  WriteText(go, "");
  for (std::size_t i = 0; i < 5; ++i) {
    const Json reply = client.Await(ids[i]);
    EXPECT_EQ(reply["result"]["structuredContent"].value("success", false), true) << reply;
  }
}

// Not one of them is there, but for those that the server needs to say so.
TEST_P(Resources, NoDescriptorIsABusyServer) {
  Policy();
  McpClient client(Limited("-n 64"));
  client.Initialize();
  ASSERT_EQ(client.CallTool("bash", {{"command", "true"}})["success"], true);
  const auto limit = [&](rlim_t most) {
    const rlimit now{most, 64};
    ASSERT_EQ(prlimit(client.pid(), RLIMIT_NOFILE, &now, nullptr), 0);
  };
  const std::vector<std::pair<const char*, Json>> calls = {{"bash", {{"command", "true"}}},
                                                           {"read", {{"path", "Makefile"}}}};
  limit(3);
  for (const auto& [tool, arguments] : calls) {
    Json error = client.CallTool(tool, arguments)["error"];
    EXPECT_EQ(error.value("code", ""), "BUSY") << error;
    EXPECT_NE(error.value("message", "").find("Too many open files"), std::string::npos) << error;
    EXPECT_NE(error.value("ai_message", "").find("ulimit -n"), std::string::npos) << error;
  }
  limit(64);
  for (const auto& [tool, arguments] : calls) {
    EXPECT_EQ(client.CallTool(tool, arguments)["success"], true) << tool;
  }
}

// A TMPDIR without room: what was attempted there, and why it failed.
TEST_P(Resources, AFullDiskIsNamedWithThePath) {
  const TempDir disk;
  const char* size = "size=4k,nr_inodes=1";
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("disk", disk.path().c_str(), "tmpfs", 0, size) != 0) {
    GTEST_SKIP() << "only root mounts";
  }
  Policy();
  ServerOptions options = project_.Server();
  options.environment.push_back("TMPDIR=" + disk.path().string());
  McpClient client(options);
  client.Initialize();
  const Json error = client.CallTool("bash", {{"command", "true"}})["error"];
  EXPECT_EQ(error.value("code", ""), "FILE_IO") << error;
  const std::string message = error.value("message", "");
  EXPECT_NE(message.find(disk.path()), std::string::npos) << message;
  EXPECT_NE(message.find("No space left on device"), std::string::npos) << message;
  ASSERT_EQ(mount("disk", disk.path().c_str(), "tmpfs", MS_REMOUNT, "size=4m,nr_inodes=1k"), 0);
  EXPECT_EQ(client.CallTool("bash", {{"command", "true"}})["success"], true) << "there is room";
}

// The server has confined itself to the directory that it had.
TEST_P(Resources, ATmpdirThatSomebodyRemovesNeedsANewStart) {
  const TempDir base;
  Policy();
  ServerOptions options = project_.Server();
  options.command = {"env", "TMPDIR=" + base.path().string(), BuiltProgram("PA_SERVER"), "serve"};
  McpClient client(options);
  client.Initialize();
  EXPECT_EQ(client.CallTool("bash", {{"command", "true"}})["success"], true);
  ASSERT_FALSE(std::filesystem::is_empty(base.path()));
  for (const auto& entry : std::filesystem::directory_iterator(base.path())) {
    std::filesystem::remove_all(entry.path());
  }
  const Json error = client.CallTool("bash", {{"command", "true"}})["error"];
  EXPECT_TRUE(error.dump().contains("start the server anew")) << error;
  McpClient anew(options);
  anew.Initialize();
  EXPECT_EQ(anew.CallTool("bash", {{"command", "true"}})["success"], true);
}

// At its most: a thread that has ended may have given back by now what the next one needs.
std::size_t AddressSpaceKib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    std::size_t kib = 0;
    if (word == "VmPeak:" && status >> kib) return kib;
  }
  return 0;
}

class Memory : public ::testing::Test {
 protected:
  static constexpr std::size_t kLarge = 12U << 20;

  void SetUp() override {
    if (kAddressSanitizer) GTEST_SKIP() << "its shadow is larger than any limit";
    WriteText(project_.root() / "large", before_);
    for (const char* name : {"one", "two"}) WriteText(project_.root() / name, "needle\n");
  }
  // A server that has `more` MiB than it has when it does little.
  ServerOptions Within(std::size_t more) {
    ServerOptions options = project_.Server();
    // Else a thread takes 64 MiB of addresses for itself, or does without, as it comes.
    options.environment.push_back("MALLOC_ARENA_MAX=1");
    if (base_kib_ == 0) {
      McpClient client(options);
      client.Initialize();
      EXPECT_EQ(client.CallTool("bash", {{"command", "true"}})["success"], true);
      base_kib_ = AddressSpaceKib(client.pid());
    }
    options.command = {
        "sh", "-c",
        "ulimit -v " + std::to_string(base_kib_ + more * 1024) + " && exec \"$0\" \"$@\"",
        BuiltProgram("PA_SERVER"), "serve"};
    return options;
  }
  // Whether the call succeeded. It has an answer, and the server does what it did before.
  static bool Succeeds(McpClient& client, const char* tool, const Json& arguments) {
    const Json reply = client.Await(client.StartTool(tool, arguments));
    EXPECT_TRUE(reply.is_object()) << tool << client.Errors();
    if (!reply.is_object()) return false;
    const Json result = reply.contains("result") ? reply["result"]["structuredContent"] : Json();
    const bool success = result.is_object() && result.value("success", false);
    if (!success) {
      const std::string said = result.is_object() ? result["error"].dump() : reply["error"].dump();
      EXPECT_NE(said.find("memory"), std::string::npos) << tool << said;
    }
    const Json after = client.CallTool("bash", {{"command", "echo hi"}});
    EXPECT_EQ(after.value("success", false), true) << tool << after;
    return success;
  }

  const std::string large_ = std::string(kLarge, 'x');
  const std::string before_ = large_ + "needle\n";
  Project project_{kResourcesMakefile};
  std::size_t base_kib_ = 0;
};

// As much as lets it come a little further each time: reading the line, the arguments, the file,
// writing it, the reply.
TEST_F(Memory, WhatNeedsMoreThanThereIsFailsAndTheServerStays) {
  const std::string half = large_.substr(kLarge / 2);
  std::size_t succeeded = 0;
  std::size_t failed = 0;
  for (std::size_t more = 0; more <= 208; more += 26) {
    McpClient client(Within(more));
    client.Initialize();
    const auto count = [&](bool success) { ++(success ? succeeded : failed); };
    const bool grown =
        Succeeds(client, "edit",
                 {{"edits",
                   {{{"path", "one"}, {"old", "needle"}, {"new", half + "needle"}},
                    {{"path", "two"}, {"old", "needle"}, {"new", half + "needle"}}}}});
    count(grown);
    const std::string one = ReadText(project_.root() / "one");
    EXPECT_EQ(one == half + "needle\n", grown) << more;
    EXPECT_EQ(ReadText(project_.root() / "two"), one) << more << ": all or nothing";
    const bool edited = Succeeds(
        client, "edit", {{"edits", {{{"path", "large"}, {"old", "needle"}, {"new", "n"}}}}});
    count(edited);
    EXPECT_EQ(ReadText(project_.root() / "large").size(), edited ? kLarge + 2 : before_.size())
        << more;
    count(Succeeds(client, "write", {{"path", std::to_string(more)}, {"content", large_}}));
    EXPECT_FALSE(client.WaitForExit(std::chrono::milliseconds(0)));
    SetUp();
  }
  EXPECT_GT(failed, 3u);
  EXPECT_GT(succeeded, 3u) << "and with enough of it they do";
}

}  // namespace
}  // namespace pa::testing
