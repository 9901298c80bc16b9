// Commands that take a while: a real build, and git over many files.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/bench/measure.h"
#include "tests/bench/sections.h"
#include "tests/bench/server.h"

namespace pa::bench {
namespace {

using testing::McpClient;
using testing::Project;

constexpr int kFolders = 780;
constexpr int kFilesInAFolder = 100;

struct Comparison {
  std::string name;
  std::string target;
  int rounds;
  Goal goal;  // without namespaces
};
constexpr Goal kWithNamespaces = AtMost(1.03);

// `before` runs before each of both, and does not count.
void CompareIn(const char* tier, Report& report, const Project& project, const Comparison& what,
               const std::function<void()>& before) {
  McpClient client(project.Server(With(project, tier)));
  client.Initialize();
  const auto after = [&](std::function<void()> work) {
    return [&before, work = Timed(std::move(work))] {
      before();
      return work();
    };
  };
  const std::vector<Samples> times =
      Interleave(what.rounds, {after([&] { CallMake(client, what.target); }), after([&] {
                                 RunBare(BareMake(project, what.target));
                               })},
                 1);
  report.Add({.name = what.name,
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "bare",
              .ratio = MedianRatio(times[0], times[1]),
              .goal = what.goal});
}

void Compare(Report& report, const Project& project, Comparison what,
             const std::function<void()>& before) {
  CompareIn(kTier0, report, project, what, before);
  what.name += ", with namespaces";
  what.goal = kWithNamespaces;
  CompareIn(kTier1, report, project, what, before);
}

void Build(Report& report) {
  const char* source = getenv("PA_BENCH_SOURCE");
  if (source == nullptr) {
    const char* why = getenv("PA_BENCH_NO_SOURCE");
    return report.Skip("make -j2 of a C project", why != nullptr ? why : "PA_BENCH_SOURCE not set");
  }
  const Project project(
      ".PHONY: build clean\n"
      "build:\n\t@$(MAKE) -C tree -j2 linux\n"
      "clean:\n\t@$(MAKE) -C tree clean\n");
  std::filesystem::copy(source, project.root() / "tree", std::filesystem::copy_options::recursive);
  Compare(report, project, {"make -j2 of Lua", "build", 5, AtMost(1.02)},
          [&] { RunBare(BareMake(project, "clean")); });
}

void GitStatus(Report& report) {
  // Without the user's settings: git gives up where they exist and may not be read.
  const Project project(
      ".PHONY: status\nstatus:\n\t@GIT_CONFIG_GLOBAL=/dev/null git status --porcelain\n");
  FillRepository(project, kFolders, kFilesInAFolder);
  Compare(report, project, {"git status, 78,000 files", "status", 15, AtMost(1.08)}, [] {});
}

}  // namespace

void Builds(Report& report) {
  report.Section("commands that take a while");
  Build(report);
  GitStatus(report);
}

}  // namespace pa::bench
