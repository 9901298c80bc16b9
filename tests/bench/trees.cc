// What the look at a project costs that a command could change: many directories, many submodules.
#include <algorithm>
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

constexpr std::string_view kTreesMakefile =
    ".PHONY: noop plant\nnoop:\n\t@:\nplant:\n\t@cp planted .git/index\n";

// As a large checkout: 78,000 files in 8,100 directories.
void Fill(const fs::path& root) {
  constexpr int kTop = 90, kBelow = 89, kFiles = 78'000;
  std::vector<fs::path> directories;
  for (int i = 0; i < kTop; ++i) {
    const fs::path top = root / ("d" + std::to_string(i));
    directories.push_back(top);
    for (int j = 0; j < kBelow; ++j) directories.push_back(top / ("e" + std::to_string(j)));
  }
  for (const fs::path& directory : directories) fs::create_directories(directory);
  for (int i = 0; i < kFiles; ++i) {
    std::ofstream(directories[static_cast<std::size_t>(i) % directories.size()] /
                  ("f" + std::to_string(i)));
  }
}

// Both before and after a command.
void ManyDirectories(Report& report) {
  const Project large(kTreesMakefile);
  const Project small(kTreesMakefile);
  Fill(large.root());
  McpClient in_large(large.Server(With(large, kTier0)));
  McpClient in_small(small.Server(With(small, kTier0)));
  in_large.Initialize();
  in_small.Initialize();
  const std::vector<Samples> times = Interleave(
      40, {Timed([&] { CallMake(in_large, "noop"); }), Timed([&] { CallMake(in_small, "noop"); })});
  report.Add({.name = "make noop over 78,000 files: more than over none",
              .unit = "ms",
              .ours = MedianDifference(times[0], times[1]),
              .reference = Median(times[1]),
              .against = "an empty project",
              .goal = OursAtMost(25)});
}

// A recipe leaves an index with very many submodules; what is asked meanwhile must not wait for the
// server to read it.
void ManySubmodules(Report& report) {
  constexpr int kLinks = 200'000;
  const Project project(kTreesMakefile);
  project.InitGit();
  {
    std::ofstream lines(project.root() / "lines");
    const std::string object(40, '1');
    for (int i = 0; i < kLinks; ++i) lines << "160000 " << object << "\tm" << i << '\n';
  }
  RunBare({.command = {"sh", "-c", "GIT_INDEX_FILE=planted git update-index --index-info <lines"},
           .environment = {"HOME=" + project.home().string()},
           .directory = project.root()});
  McpClient client(project.Server(With(project, kTier0)));
  client.Initialize();
  CallMake(client, "noop");
  const auto slowest = [&](const std::string& target) {
    double worst = 0;
    const int call = client.StartTool("make", {{"target", target}});
    for (bool ended = false; !ended;) {
      const auto start = Clock::now();
      const int ping = client.Start("ping");
      for (bool answered = false; !answered;) {
        const Json message = client.Read();
        if (message.is_null()) GiveUp("no answer");
        if (!message.contains("id")) continue;
        ended = ended || message["id"] == call;
        answered = message["id"] == ping;
      }
      worst = std::max(worst, MillisecondsSince(start));
    }
    return worst;
  };
  const std::vector<Samples> times =
      Interleave(5, {[&] { return slowest("plant"); }, [&] { return slowest("noop"); }}, 1);
  report.Add({.name = "slowest ping while 200,000 submodules are left",
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "while nothing is",
              .goal = OursAtMost(100)});
  CallMake(client, "noop");  // the project can be used still
}

}  // namespace

void Trees(Report& report) {
  report.Section("what commands could change");
  ManyDirectories(report);
  ManySubmodules(report);
}

}  // namespace pa::bench
