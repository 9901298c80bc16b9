// `policy explain PATH` says what the sandbox does: random paths and operations, explained and then
// tried.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPairs = 500;
constexpr std::size_t kPairsThatStay = 450;
constexpr unsigned kSeed = 20261121;
constexpr std::string_view kExplainMakefile = ".PHONY: try\ntry:\n\t@./try_paths list\n";

struct Pair {
  std::string operation;  // read, write, execute
  std::string path;
};

// Where nothing is lost by opening: no device beyond those without state, no FIFO.
bool IsHarmless(const fs::path& path) {
  struct stat status{};
  if (lstat(path.c_str(), &status) != 0) return false;
  if (stat(path.c_str(), &status) != 0) return false;
  return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
}

// /proc/PID of a number that a process of a young pid namespace can have, too.
bool IsOfLowNumber(const fs::path& path) {
  constexpr int kLow = 100;
  int number = 0;
  return std::sscanf(path.c_str(), "/proc/%d", &number) == 1 && number < kLow;
}

// The walls that there are, as the policy asks for them.
class Explain : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam()) == "off") return;
    const ProgramResult doctor =
        RunProgram({.command = {BuiltProgram("PA_SERVER"), "doctor", "--json"}});
    const Json report = Json::parse(doctor.output, nullptr, false);
    if (!report.is_object() || report["kernel"]["namespaces"] != "yes")
      GTEST_SKIP() << "no namespaces are granted here";
  }
  Explain() {
    fs::copy_file(BuiltProgram("PA_TRY_PATHS"), project_.root() / "try_paths");
    for (const fs::path& top : {project_.root(), project_.home(), project_.outside()}) {
      for (const char* name : {"file", "sub/file", "sub/deep/script", ".config/x/file"}) {
        WriteText(top / name, "#!/bin/sh\n");
        fs::permissions(top / name, fs::perms::owner_all);
      }
    }
    fs::create_symlink(project_.outside() / "file", project_.root() / "link");
    fs::create_directory_symlink(project_.outside(), project_.home() / "link");
    WriteText(project_.home() / ".config/project-actions/policy.yaml",
              "version: 1\nnamespaces: " + std::string(GetParam()) + "\nfilesystem:\n  read: [" +
                  (project_.outside() / "sub").string() + "]\n  write: [" +
                  (project_.home() / "sub").string() + "]\n");
  }

  // A path beneath `at` by a random walk; shallow ones are as likely as deep ones.
  fs::path Walk(fs::path at) {
    for (int depth = static_cast<int>(Below(5)); depth > 0; --depth) {
      std::error_code ignored;
      std::vector<fs::path> names;
      for (const auto& entry : fs::directory_iterator(at, ignored)) names.push_back(entry.path());
      if (names.empty()) return at;
      std::ranges::sort(names);
      at = names[Below(names.size())];
    }
    return at;
  }
  std::size_t Below(std::size_t bound) { return random_() % bound; }

  // What each pair comes to, for whoever executes `command`.
  std::vector<int> Answers(const std::string& printed) {
    std::vector<int> answers;
    std::istringstream lines(printed);
    for (int answer = 0; lines >> answer;) answers.push_back(answer);
    return answers;
  }

  bool IsOurs(const fs::path& path) const {
    return path.string().starts_with(project_.root().parent_path().string() + "/");
  }

  std::vector<Pair> Draw(std::size_t count) {
    const std::vector<fs::path> tops = {project_.root(),
                                        project_.home(),
                                        project_.outside(),
                                        project_.root().parent_path(),
                                        "/",
                                        "/etc",
                                        "/usr",
                                        "/usr/bin",
                                        "/var",
                                        "/opt",
                                        "/root",
                                        "/home",
                                        "/tmp",
                                        "/sys/devices/system",
                                        "/proc/sys",
                                        "/boot",
                                        "/run",
                                        "/srv"};
    std::vector<Pair> pairs;
    while (pairs.size() < count) {
      const fs::path path = Walk(tops[Below(tops.size())]);
      const bool plain = path.string().find_first_of("\n\r") == std::string::npos;
      const std::string operation = std::array{"read", "write", "execute"}[Below(3)];
      // Whoever has a program open for writing keeps others from executing it.
      const bool in_use = operation == "write" && !IsOurs(path) && access(path.c_str(), X_OK) == 0;
      // With a network of their own commands find its names there, as is explained; which ones it
      // has is the kernel's matter.
      const bool own_network =
          GetParam() != std::string_view("off") && path.string().starts_with("/proc/sys/net");
      // And with a pid namespace of their own, other processes under the lowest numbers.
      const bool own_process = GetParam() != std::string_view("off") && IsOfLowNumber(path);
      if (plain && IsHarmless(path) && !in_use && !own_network && !own_process)
        pairs.push_back({operation, path});
    }
    return pairs;
  }

  void WriteList(const std::vector<Pair>& pairs) {
    std::string list;
    for (const Pair& pair : pairs) list += pair.operation + " " + pair.path + "\n";
    WriteText(project_.root() / "list", list);
  }

  // What the user can do: only of that can the sandbox take anything away.
  std::vector<Pair> Possible(std::vector<Pair> pairs) {
    const std::vector<bool> can = UserCan(pairs);
    std::vector<Pair> possible;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (can[i]) possible.push_back(std::move(pairs[i]));
    }
    return possible;
  }

  std::vector<bool> UserCan(const std::vector<Pair>& pairs) {
    WriteList(pairs);
    const ProgramResult result =
        RunProgram({.command = {"./try_paths", "list"}, .directory = project_.root()});
    const std::vector<int> answers = Answers(result.output);
    EXPECT_EQ(answers.size(), pairs.size());
    std::vector<bool> can(pairs.size());
    for (std::size_t i = 0; i < std::min(pairs.size(), answers.size()); ++i) {
      can[i] = answers[i] == 0;
    }
    return can;
  }

  bool Explained(const Pair& pair) {
    auto known = explained_.find(pair.path);
    if (known == explained_.end()) {
      const ProgramResult result =
          RunProgram({.command = {BuiltProgram("PA_SERVER"), "policy", "explain", pair.path,
                                  "--json", "--root", project_.root()},
                      .environment = {"HOME=" + project_.home().string()},
                      .directory = project_.root()});
      known = explained_.emplace(pair.path, Json::parse(result.output, nullptr, false)).first;
    }
    EXPECT_FALSE(known->second.is_discarded()) << pair.path;
    if (known->second.is_discarded()) return false;
    return known->second["uses"][0][pair.operation]["allowed"];
  }

  Project project_{kExplainMakefile};
  std::mt19937 random_{kSeed};
  std::map<std::string, Json> explained_;
};

TEST_P(Explain, WhatIsExplainedIsWhatHappens) {
  std::vector<Pair> pairs;
  for (int rounds = 0; pairs.size() < kPairs && rounds < 40; ++rounds) {
    for (Pair& pair : Possible(Draw(200))) pairs.push_back(std::move(pair));
  }
  pairs.resize(std::min(pairs.size(), kPairs));
  ASSERT_EQ(pairs.size(), kPairs);
  WriteList(pairs);
  McpClient client(project_.Server());
  client.Initialize();
  const Json result = client.CallTool("make", {{"target", "try"}});
  ASSERT_TRUE(result["success"]) << result;
  const std::vector<int> answers = Answers(result["data"]["stdout"]);
  ASSERT_EQ(answers.size(), kPairs);
  std::vector<bool> explained;
  for (const Pair& pair : pairs) explained.push_back(Explained(pair));
  // What others ended or removed in the meantime, such as a process, says nothing.
  const std::vector<bool> stays = UserCan(pairs);
  EXPECT_GT(std::ranges::count(stays, true), kPairsThatStay);
  int allowed = 0;
  for (std::size_t i = 0; i < kPairs; ++i) {
    if (!stays[i]) continue;
    EXPECT_EQ(explained[i], answers[i] == 0)
        << pairs[i].operation << " " << pairs[i].path << ": errno " << answers[i];
    allowed += explained[i] ? 1 : 0;
  }
  // The draw is no test if it meets one side alone.
  EXPECT_GT(allowed, 50);
  EXPECT_LT(allowed, 450);
}

// Whatever is granted, Landlock lets no command look into processes outside: this one, for example.
// Nor has a command the capabilities that some files of the kernel take.
TEST_P(Explain, WhatNoPolicyShows) {
  const std::string process = "/proc/" + std::to_string(getpid()) + "/";
  std::vector<Pair> pairs;
  for (const char* name : {"environ", "maps", "auxv", "mem", "fdinfo", "root/etc/passwd", "cwd",
                           "task", "status", "cmdline", "limits", "stat", "mounts"}) {
    pairs.push_back({"read", process + name});
  }
  // All files beside the processes; those that are shown to everybody are the twins.
  std::vector<Pair> files;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (fs::is_regular_file(entry.symlink_status())) files.push_back({"read", entry.path()});
  }
  for (Pair& pair : Possible(std::move(files))) pairs.push_back(std::move(pair));
  WriteList(pairs);
  McpClient client(project_.Server());
  client.Initialize();
  const Json result = client.CallTool("make", {{"target", "try"}});
  const std::vector<int> answers = Answers(result["data"]["stdout"]);
  ASSERT_EQ(answers.size(), pairs.size()) << result;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(Explained(pairs[i]), answers[i] == 0) << pairs[i].path << ": errno " << answers[i];
  }
}

// /tmp holds the project; the others are a command's own, or closed.
TEST_P(Explain, PlacesThatTheViewHasAnew) {
  std::vector<Pair> pairs;
  for (const char* path : {"/tmp", "/dev/shm", "/dev/ptmx", "/dev/pts", "/dev/null"}) {
    pairs.push_back({"read", path});
  }
  for (const char* path : {"/dev/ptmx", "/dev/null"}) pairs.push_back({"write", path});
  WriteList(pairs);
  McpClient client(project_.Server());
  client.Initialize();
  const Json result = client.CallTool("make", {{"target", "try"}});
  const std::vector<int> answers = Answers(result["data"]["stdout"]);
  ASSERT_EQ(answers.size(), pairs.size()) << result;
  const bool view = GetParam() == std::string_view("require");
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(Explained(pairs[i]), answers[i] == 0)
        << pairs[i].operation << " " << pairs[i].path << ": errno " << answers[i];
    const bool own = pairs[i].path != "/tmp" && pairs[i].path != "/dev/null";
    EXPECT_TRUE(!own || (answers[i] == 0) == view) << pairs[i].path;
  }
}

// Of the network a command sees its own, where it has one, and is told so.
TEST_P(Explain, ANetworkOfItsOwn) {
  const std::string path = "/proc/sys/net/core/somaxconn";
  EXPECT_TRUE(Explained({"read", path}));
  EXPECT_EQ(explained_[path].contains("network"), GetParam() == std::string_view("require"));
  EXPECT_TRUE(Explained({"read", "/proc/sys/kernel/ostype"}));
  EXPECT_FALSE(explained_["/proc/sys/kernel/ostype"].contains("network"));
}

INSTANTIATE_TEST_SUITE_P(Namespaces, Explain, ::testing::Values("off", "require"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace pa::testing
