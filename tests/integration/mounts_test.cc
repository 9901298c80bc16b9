// A project on a file system that is unmounted and mounted again while a server runs: it is in
// nobody's way, and works on.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>

#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

std::string MakefileThatSays(const std::string& word) {
  return ".PHONY: hello\nhello:\n\t@echo " + word + "\n";
}

// Propagation as systemd sets it, and as containers have it.
class Mounts : public ::testing::TestWithParam<std::tuple<const char*, unsigned long>> {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root mounts";
    // What is mounted here is gone with this process.
    if (unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "no mount namespace";
    ASSERT_EQ(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    ASSERT_EQ(mount("none", "/", nullptr, MS_REC | std::get<1>(GetParam()), nullptr), 0);
    WriteText(project_.home() / ".config/project-actions/policy.yaml",
              std::string("version: 1\nnamespaces: ") + std::get<0>(GetParam()) + "\n");
  }

  void Mount(const std::string& word) const {
    ASSERT_EQ(mount("disk", project_.root().c_str(), "tmpfs", 0, "mode=0755"), 0);
    WriteText(project_.root() / "Makefile", MakefileThatSays(word));
  }
  // A worker that has read a file exits a moment after its answer; umount(2) is EBUSY until then.
  void Unmount() const {
    ASSERT_TRUE(Eventually([&] { return umount(project_.root().c_str()) == 0; })) << errno;
  }
  // Whether the server, or a process of its, has it in its mount namespace or is in it.
  bool IsHeld(pid_t server) const {
    std::vector<pid_t> all = ChildrenOf(server);
    all.push_back(server);
    for (const pid_t pid : all) {
      std::ifstream mounts("/proc/" + std::to_string(pid) + "/mountinfo");
      for (std::string line; std::getline(mounts, line);) {
        if (line.find(fs::canonical(project_.root()).string() + " ") != std::string::npos)
          return true;
      }
    }
    return false;
  }
  static std::string Says(McpClient& client) {
    Json made = client.CallTool("make", {{"target", "hello"}});
    Json read = client.CallTool("read", {{"path", "Makefile"}});
    const std::string text = read["data"].value("content", read.dump());
    const std::string word = made["data"].value("stdout", made.dump());
    EXPECT_NE(text.find("echo " + word), std::string::npos) << text << word;
    return word;
  }

  Project project_{MakefileThatSays("below")};
};
INSTANTIATE_TEST_SUITE_P(TiersAndPropagation, Mounts,
                         ::testing::Combine(::testing::Values("auto", "off"),
                                            ::testing::Values(MS_PRIVATE, MS_SHARED)),
                         [](const auto& which) {
                           const bool shared = std::get<1>(which.param) == MS_SHARED;
                           return std::string(std::get<0>(which.param)) +
                                  (shared ? "_shared" : "_private");
                         });

TEST_P(Mounts, AProjectIsUnmountedAndMountedAgainUnderARunningServer) {
  Mount("one");
  // As clients start it: there.
  ServerOptions options = project_.Server();
  options.directory = project_.root();
  McpClient client(options);
  client.Initialize();
  EXPECT_EQ(Says(client), "one\n");
  Unmount();
  EXPECT_TRUE(Eventually([&] { return !IsHeld(client.pid()); })) << "by a copy of the mount";
  EXPECT_EQ(Says(client), "below\n");
  Mount("two");
  EXPECT_EQ(Says(client), "two\n");
  // And over the one that is there.
  Mount("three");
  EXPECT_EQ(Says(client), "three\n");
  Unmount();
  EXPECT_EQ(Says(client), "two\n");
  Unmount();
}

}  // namespace
}  // namespace pa::testing
