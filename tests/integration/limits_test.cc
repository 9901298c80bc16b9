// Bombs, each no larger than the machine bears: the limit that was exceeded is named, other calls are answered
// meanwhile, and nothing is left.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMakefile =
    ".PHONY: hello fork memory fill files deep many burn\n"
    "hello:\n\t@echo hi\n"
    "fork:\n\t@./bomb fork 8\n"
    "memory:\n\t@./bomb memory 600\n"
    "fill:\n\t@./bomb fill 50\n"
    "files:\n\t@./bomb files 1000\n"
    "deep:\n\t@./bomb deep 1000\n"  // disks that take milliseconds to remove one have been seen
    "many:\n\t@./bomb many 100000\n"
    "burn:\n\t@while :; do :; done; true\n";

// A directory that could not be emptied in time is taken away, maybe while we look.
bool IsEmptyOrGone(const fs::path& directory) {
  std::error_code gone;
  return fs::is_empty(directory, gone) || gone;
}

class Limits : public ::testing::Test {
 protected:
  explicit Limits(const std::string& cpu_time = "10m") {
    fs::copy_file(BuiltProgram("PA_BOMB"), project_.root() / "bomb");
    WriteText(project_.home() / ".config/project-actions/policy.yaml",
              "version: 1\n"
              "limits: {processes: 100, memory: 300MiB, file_size: 10MiB, open_files: 100,\n"
              "         wall_time: 2m, cpu_time: " +
                  cpu_time + "}\n");
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
  // Nothing lies in a TMPDIR of any slot.
  bool TmpIsClean() const {
    for (const auto& instance : fs::directory_iterator(tmp_.path())) {
      for (const auto& slot : fs::directory_iterator(instance)) {
        if (slot.is_directory() && !IsEmptyOrGone(slot)) return false;
      }
    }
    return true;
  }

  Project project_{kMakefile};
  TempDir tmp_;
  std::optional<McpClient> client_;
};

TEST_F(Limits, Processes) { ExpectExceeded("fork", "processes"); }
TEST_F(Limits, Memory) { ExpectExceeded("memory", "memory"); }

class CpuLimit : public Limits {
 protected:
  CpuLimit() : Limits("1s") {}
};

// Of a process that make starts: it is told from a recipe that fails.
TEST_F(CpuLimit, CpuTime) { ExpectExceeded("burn", "cpu_time"); }

TEST_F(Limits, FileSize) {
  const Json result = Result("fill");
  EXPECT_FALSE(result["success"]) << result;
  EXPECT_EQ(fs::file_size(project_.root() / "filled"), 10u << 20);
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
