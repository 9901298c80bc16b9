// git beside git: what commands see of a large repository, and commits with hooks and without.
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/bench/measure.h"
#include "tests/bench/sections.h"
#include "tests/bench/server.h"

namespace pa::bench {
namespace {

namespace fs = std::filesystem;
using testing::Json;
using testing::McpClient;
using testing::Project;

testing::Launch Bare(const Project& project, std::vector<std::string> command) {
  return {.command = std::move(command),
          .environment = {"HOME=" + project.home().string()},
          .directory = project.root()};
}

// Warm: nothing has changed since the last one. Cold: each file was touched, and none has changed.
void Status(Report& report) {
  constexpr int kTop = 780, kEach = 100;
  const Project project(".PHONY: noop\nnoop:\n\t@:\n");
  FillRepository(project, kTop, kEach);
  McpClient client(project.Server(With(project, kTier1)));
  client.Initialize();
  const std::vector<std::string> status = {"git", "status", "--porcelain"};
  const auto ours = [&] {
    const Json arguments = {{"command", "git status --porcelain"}};
    MustSucceed(client.Await(client.StartTool("bash", arguments)));
  };
  const auto bare = [&] { RunBare(Bare(project, status)); };
  const auto touched = [&](std::function<void()> work) {
    return [&, work = Timed(std::move(work))] {
      RunBare(Bare(project, {"sh", "-c",
                             "find . -path ./.git -prune -o -type f -print0 | "
                             "xargs -0 touch"}));
      return work();
    };
  };
  const auto add = [&](const char* name, const std::vector<Samples>& times) {
    report.Add({.name = name,
                .unit = "ms",
                .ours = Median(times[0]),
                .reference = Median(times[1]),
                .against = "git",
                .ratio = MedianRatio(times[0], times[1])});
  };
  add("git status of 78,000 files, warm", Interleave(15, {Timed(ours), Timed(bare)}));
  add("git status of 78,000 files, cold", Interleave(5, {touched(ours), touched(bare)}, 1));
}

// `hook`: a shell command; "": there is none.
void Commit(Report& report, const std::string& name, const std::string& hook,
            std::optional<Goal> goal) {
  const Project project(".PHONY: noop\nnoop:\n\t@:\n");
  FillRepository(project, 3, 100);
  if (!hook.empty()) {
    const fs::path file = project.root() / ".git/hooks/pre-commit";
    std::ofstream(file) << "#!/bin/sh\n" << hook << "\n";
    fs::permissions(file, fs::perms::owner_all);
  }
  McpClient client(project.Server(With(project, kTier1)));
  client.Initialize();
  int number = 0;
  const auto staged = [&](std::function<void()> work) {
    return [&, work = Timed(std::move(work))] {
      std::ofstream(project.root() / "folder0/0") << ++number;
      RunBare(Bare(project, {"git", "add", "folder0/0"}));
      return work();
    };
  };
  const std::vector<Samples> times =
      Interleave(15, {staged([&] {
                        const Json arguments = {{"message", "m"}};
                        MustSucceed(client.Await(client.StartTool("git_commit", arguments)));
                      }),
                      staged([&] { RunBare(Bare(project, {"git", "commit", "-q", "-m", "m"})); })});
  report.Add({.name = name,
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "git",
              .ratio = MedianRatio(times[0], times[1]),
              .goal = goal});
}

}  // namespace

// The goal is of hooks that do something: husky with lint-staged takes twice as long as this one.
void Git(Report& report) {
  report.Section("git");
  Status(report);
  Commit(report, "git_commit without hooks", "", std::nullopt);
  Commit(report, "git_commit with a hook that does nothing", "true", std::nullopt);
  Commit(report, "git_commit with a hook of 0.3 s", "sleep 0.3", AtMost(1.3));
}

}  // namespace pa::bench
