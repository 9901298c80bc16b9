// Bombs, each no larger than the machine bears: the limit that was exceeded is named, other calls
// are answered meanwhile, and nothing is left.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLimitsMakefile =
    ".PHONY: hello fork memory memfd fill shell within named own gone lie files deep many burn nap "
    "burners\n"
    "hello:\n\t@echo hi\n"
    "fork:\n\t@./bomb fork 8\n"
    "memory:\n\t@./bomb memory 600\n"
    "fill:\n\t@./bomb fill 50\n"
    "shell:\n\t@mkdir -p out; head -c 50000000 /dev/zero >out/big\n"
    "within:\n\t@head -c 10485760 /dev/zero >big\n"
    "named:\n\t@trap '' XFSZ; dd if=/dev/zero of=big bs=1M count=50 status=none\n"
    "own:\n\t@ulimit -f 100; head -c 50000000 /dev/zero >big\n"
    "gone:\n\t@head -c 50000000 /dev/zero >big; rm big; exit 1\n"
    "lie:\n\t@echo 'dd: error writing bomb: File too large'; exit 1\n"
    "files:\n\t@./bomb files 1000\n"
    "deep:\n\t@./bomb deep 1000\n"  // disks that take milliseconds to remove one have been seen
    "many:\n\t@./bomb many 30000\n"
    "memfd:\n\t@./bomb memfd 600\n"
    "nap:\n\t@sleep 1\n"
    "burners:\n\t@for i in 1 2 3 4 5 6 7 8; do ./bomb burn 300; done\n"
    "burn:\n\t@while :; do :; done; true\n";

// A directory that could not be emptied in time is taken away, maybe while we look.
bool IsEmptyOrGone(const fs::path& directory) {
  std::error_code gone;
  return fs::is_empty(directory, gone) || gone;
}

class Limits : public ::testing::Test {
 protected:
  explicit Limits(const std::string& cpu_time = "10m", const std::string& more = "") {
    fs::copy_file(BuiltProgram("PA_BOMB"), project_.root() / "bomb");
    WriteText(project_.home() / ".config/project-actions/policy.yaml",
              "version: 1\n"
              "limits: {processes: 100, memory: 300MiB, file_size: 10MiB, open_files: 100,\n"
              "         wall_time: 2m, cpu_time: " +
                  cpu_time + more + "}\n");
    ServerOptions options = project_.Server();
    options.environment.push_back("TMPDIR=" + tmp_.path().string());
    client_.emplace(options);
    client_->Initialize();
  }

  // The result of `target`, while which others are answered.
  Json Result(const char* target) {
    const int call = client_->StartTool("make", {{"target", target}});
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(client_->CallTool("make", {{"target", "hello"}})["success"]);
    }
    return client_->Await(call)["result"]["structuredContent"];
  }
  void ExpectExceeded(const char* target, const std::string& limit) {
    const Json result = Result(target);
    EXPECT_EQ(result["error"]["code"], "LIMIT_EXCEEDED") << result;
    EXPECT_EQ(result["data"]["outcome"], "limit_exceeded") << result;
    EXPECT_NE(result["error"].dump().find("limits." + limit), std::string::npos) << result;
    EXPECT_TRUE(Eventually([&] { return WorkersOf(client_->pid()).empty(); }));
  }
  // The one denial, of `file`.
  Json IsFull(const Json& result, const std::string& file) {
    EXPECT_FALSE(result["success"]) << result;
    const Json denials = result["data"].value("denials", Json::array());
    EXPECT_EQ(denials.size(), 1u) << result;
    if (denials.empty()) return Json::object();
    EXPECT_EQ(denials[0].value("limit", ""), "file_size") << result;
    EXPECT_EQ(denials[0].value("path", ""), fs::canonical(project_.root()) / file) << result;
    EXPECT_EQ(denials[0].value("source", ""), "stderr") << result;
    return denials[0];
  }
  // Nothing lies in a TMPDIR of any slot.
  bool TmpIsClean() const {
    for (const auto& instance : fs::directory_iterator(tmp_.path())) {
      for (const auto& slot : fs::directory_iterator(instance)) {
        if (slot.is_directory() && !IsEmptyOrGone(slot)) return false;
      }
    }
    return true;
  }

  Project project_{kLimitsMakefile};
  TempDir tmp_;
  std::optional<McpClient> client_;
};

// One build has the only place, and there is none to wait in.
TEST(Places, WhoLooksNeitherWaitsForABuildNorIsBusyBecauseOfIt) {
  const Project project(
      ".PHONY: hold hello\nhold:\n\t@echo holding; while ! [ -e go ]; do sleep 0.02; done\n"
      "hello:\n\t@echo hi\n");
  WriteText(project.home() / ".config/project-actions/policy.yaml",
            "version: 1\nlimits: {concurrent: 1, queue: 0}\n");
  McpClient client(project.Server());
  client.Initialize();
  const int hold = client.StartTool("make", {{"target", "hold"}}, {{"progressToken", "p"}});
  while (client.ProgressCount("p") == 0) client.notifications().push_back(client.Read());
  EXPECT_EQ(client.CallTool("make", {{"target", "hello"}})["error"]["code"], "BUSY");
  const std::vector<std::pair<std::string, Json>> looks = {
      {"read", {{"path", "Makefile"}}},
      {"glob", {{"pattern", "*"}}},
      {"grep", {{"pattern", "holding"}}},
      {"make_targets", Json::object()},
      {"make", {{"target", "hello"}, {"dry_run", true}}}};
  std::vector<int> calls;
  for (int round = 0; round < 4; ++round) {
    for (const auto& [tool, arguments] : looks) calls.push_back(client.StartTool(tool, arguments));
  }
  for (const int call : calls) {
    const Json result = client.Await(call)["result"]["structuredContent"];
    EXPECT_TRUE(result.value("success", false)) << result;
  }
  WriteText(project.root() / "go", "");
  EXPECT_TRUE(client.Await(hold)["result"]["structuredContent"]["success"]);
}

TEST_F(Limits, Processes) { ExpectExceeded("fork", "processes"); }
TEST_F(Limits, Memory) { ExpectExceeded("memory", "memory"); }

class CpuLimit : public Limits {
 protected:
  CpuLimit() : Limits("1s") {}
};

// Of a process that make starts: it is told from a recipe that fails.
TEST_F(CpuLimit, CpuTime) { ExpectExceeded("burn", "cpu_time"); }

// Where a cgroup is delegated to the server, which one alone can be: no test of make test's.
void SkipWithoutCgroup() {
  const ProgramResult doctor =
      RunProgram({.command = {BuiltProgram("PA_SERVER"), "doctor", "--json"}});
  const Json report = Json::parse(doctor.output, nullptr, false);
  ASSERT_TRUE(report.is_object()) << doctor.output << doctor.errors;
  if (report["kernel"]["cgroup"] != "yes")
    GTEST_SKIP() << "no cgroup v2 is delegated to the server";
}

// Of the calls of a server, also of those that have ended.
std::vector<fs::path> GroupsOf(pid_t server) {
  std::string own;
  std::getline(std::ifstream("/proc/" + std::to_string(server) + "/cgroup"), own);
  const fs::path home = fs::path("/sys/fs/cgroup" + own.substr(own.rfind(':') + 1)).parent_path();
  std::vector<fs::path> groups;
  for (const auto& entry : fs::directory_iterator(home)) {
    if (entry.path().filename().string().starts_with("call-")) groups.push_back(entry.path());
  }
  return groups;
}

class CallsAMinute : public Limits {
 protected:
  CallsAMinute() : Limits("10m", ", calls_per_minute: 30") {}
};

// Five at once, then one in two seconds.
TEST_F(CallsAMinute, FurtherOnesAreToldWhenToComeBack) {
  Json last;
  int run = 0;
  for (; run < 20; ++run) {
    last = client_->CallTool("make", {{"target", "hello"}, {"dry_run", true}});
    if (!last["success"]) break;
  }
  EXPECT_GE(run, 5);
  ASSERT_LT(run, 20) << "twenty calls took longer than half a minute";
  EXPECT_EQ(last["error"]["code"], "RATE_LIMITED") << last;
  EXPECT_TRUE(last["error"]["recoverable"]);
  const int wait = last["error"]["details"]["retry_after_ms"];
  EXPECT_GT(wait, 0);
  EXPECT_LE(wait, 2000);
  std::this_thread::sleep_for(std::chrono::milliseconds(wait));
  EXPECT_TRUE(client_->CallTool("make", {{"target", "hello"}, {"dry_run", true}})["success"]);
}

class InCgroup : public Limits {
 protected:
  void SetUp() override { SkipWithoutCgroup(); }
};

TEST_F(InCgroup, MemoryThatNobodyMaps) { ExpectExceeded("memfd", "memory"); }
TEST_F(InCgroup, MemoryAtOnce) { ExpectExceeded("memory", "memory"); }
TEST_F(InCgroup, ProcessesOfRootToo) { ExpectExceeded("fork", "processes"); }

// What waits for its call has one, and nobody else.
TEST_F(InCgroup, GroupsGoWithTheirCalls) {
  ExpectExceeded("fork", "processes");
  EXPECT_TRUE(Eventually([&] { return GroupsOf(client_->pid()).size() <= 2; }));
  EXPECT_FALSE(GroupsOf(client_->pid()).empty());
}

// Nothing else withholds processors: who asks for it without a cgroup runs nothing.
class CpusWithoutCgroup : public Limits {
 protected:
  CpusWithoutCgroup() : Limits("10m", ", cpus: 1") {}
};

TEST_F(CpusWithoutCgroup, NothingRuns) {
  const ProgramResult doctor =
      RunProgram({.command = {BuiltProgram("PA_SERVER"), "doctor", "--json"}});
  if (Json::parse(doctor.output)["kernel"]["cgroup"] == "yes") GTEST_SKIP() << "there is one";
  const Json result = client_->CallTool("make", {{"target", "hello"}});
  EXPECT_EQ(result["error"]["code"], "SANDBOX_UNAVAILABLE") << result;
  EXPECT_NE(result["error"].dump().find("limits.cpus"), std::string::npos) << result;
}

class CpusInCgroup : public CpusWithoutCgroup {
 protected:
  void SetUp() override { SkipWithoutCgroup(); }
};

// That the kernel keeps to it is seen by cgroup_test.cc.
TEST_F(CpusInCgroup, TheGroupOfTheCallSaysSo) {
  const int call = client_->StartTool("make", {{"target", "nap"}});
  EXPECT_TRUE(Eventually([&] {
    return std::ranges::any_of(GroupsOf(client_->pid()), [](const fs::path& group) {
      std::string limit;
      std::getline(std::ifstream(group / "cpu.max"), limit);
      return limit == "100000 100000";
    });
  }));
  EXPECT_TRUE(client_->Await(call)["result"]["structuredContent"]["success"]);
}

class CpuLimitInCgroup : public CpuLimit {
 protected:
  void SetUp() override { SkipWithoutCgroup(); }
};

TEST_F(CpuLimitInCgroup, OfAllProcessesTogether) { ExpectExceeded("burners", "cpu_time"); }

TEST_F(Limits, FileSize) {
  const Json result = Result("fill");
  EXPECT_FALSE(result["success"]) << result;
  EXPECT_EQ(fs::file_size(project_.root() / "filled"), 10u << 20);
  IsFull(result, "filled");
}

// make swallows what ends its recipes, and a shell what ends its programs.
TEST_F(Limits, FileSizeThroughAShell) {
  IsFull(Result("shell"), "out/big");
  IsFull(Result("named"), "big");
}

TEST_F(Limits, TheLineThatIsNamedAllowsMore) {
  const Json denial = IsFull(Result("fill"), "filled");
  EXPECT_EQ(denial["allow_with"], "limits: {file_size: 20MiB}");
  WriteText(project_.home() / ".config/project-actions/policy.yaml",
            "version: 1\n" + denial.value("allow_with", "") + "\n");
  fs::remove(project_.root() / "filled");
  McpClient client(project_.Server());
  client.Initialize();
  const Json more = client.CallTool("make", {{"target", "fill"}});
  EXPECT_EQ(fs::file_size(project_.root() / "filled"), 20u << 20) << more;
  EXPECT_EQ(more["data"]["denials"][0]["allow_with"], "limits: {file_size: 40MiB}") << more;
}

TEST_F(Limits, AFileOfJustThatSizeIsLawful) {
  const Json result = Result("within");
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_FALSE(result["data"].contains("denials")) << result;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // a few ticks of the clock of files
  EXPECT_FALSE(Result("lie")["data"].contains("denials")) << "that file is another";
}

// It may have been this limit: no line is offered, but which it may be is said.
TEST_F(Limits, ALimitOfTheRecipesOwnIsNotTakenForOurs) {
  for (const char* target : {"own", "gone"}) {
    const Json result = Result(target);
    ASSERT_EQ(result["data"].value("denials", Json::array()).size(), 1u) << result;
    const Json denial = result["data"]["denials"][0];
    EXPECT_EQ(denial["limit"], "file_size");
    EXPECT_TRUE(denial.value("blocked_by", "").contains("perhaps")) << denial;
    EXPECT_FALSE(denial.contains("path") || denial.contains("allow_with")) << denial;
  }
}

TEST_F(Limits, OpenFiles) {
  const Json result = Result("files");
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_LT(std::stol(result["data"]["stdout"].get<std::string>()), 100);
}

TEST_F(Limits, ADeepTreeInTmpdirHoldsNobodyUp) {
  EXPECT_TRUE(Result("deep")["success"]);
  EXPECT_TRUE(client_->CallTool("make", {{"target", "hello"}})["success"]);
  EXPECT_TRUE(Eventually([&] { return TmpIsClean(); }, kPatience));
}

TEST_F(Limits, ManyFilesInTmpdirHoldNobodyUp) {
  EXPECT_TRUE(Result("many")["success"]);
  EXPECT_TRUE(client_->CallTool("make", {{"target", "hello"}})["success"]);
  EXPECT_TRUE(Eventually([&] { return TmpIsClean(); }, kPatience));
}

}  // namespace
}  // namespace pa::testing
