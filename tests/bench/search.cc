// glob and grep over many files, beside ripgrep on the same question.
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/bench/measure.h"
#include "tests/bench/sections.h"
#include "tests/bench/server.h"

namespace pa::bench {
namespace {

using testing::Json;
using testing::McpClient;
using testing::Project;

constexpr int kFolders = 780;
constexpr int kFilesInAFolder = 100;
constexpr int kEvery = 500;  // of the files, one has the word

void MakeFiles(const Project& project) {
  std::string text;
  for (int line = 0; line < 20; ++line) text += "static int value = 7; // of no interest\n";
  for (int file = 0; file < kFolders * kFilesInAFolder; ++file) {
    const std::filesystem::path folder =
        project.root() / ("folder" + std::to_string(file / kFilesInAFolder));
    if (file % kFilesInAFolder == 0) std::filesystem::create_directory(folder);
    const char* ending = file % 2 == 0 ? ".c" : ".h";
    std::ofstream out(folder / ("file" + std::to_string(file) + ending));
    out << text;
    if (file % kEvery == 0) out << "needle\n";
  }
}

struct Question {
  const char* name;
  const char* tool;
  Json arguments;
  std::vector<std::string> options;  // ripgrep's, for the same
};

void Compare(Report& report, const Project& project, const char* tier, const Question& what) {
  McpClient client(project.Server(With(project, tier)));
  client.Initialize();
  const auto ours = [&] { MustSucceed(client.Await(client.StartTool(what.tool, what.arguments))); };
  const auto bare = [&] {
    std::vector<std::string> command = {"rg", "--no-config"};
    command.insert(command.end(), what.options.begin(), what.options.end());
    RunBare({.command = std::move(command), .directory = project.root()});
  };
  const std::vector<Samples> times = Interleave(15, {Timed(ours), Timed(bare)}, 1);
  const bool namespaces = std::string(tier) == kTier1;
  report.Add({.name = std::string(what.name) + (namespaces ? ", with namespaces" : ""),
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "rg",
              .ratio = MedianRatio(times[0], times[1]),
              .goal = AtMost(1.15)});
}

}  // namespace

void Search(Report& report) {
  report.Section("glob and grep over 78,000 files");
  if (OnPath("rg").empty()) return report.Skip("glob and grep", "no rg");
  const Project project("");
  MakeFiles(project);
  const Question questions[] = {
      {"glob *.c, newest first",
       "glob",
       {{"pattern", "*.c"}},
       {"--files", "--glob=*.c", "--sortr=modified"}},
      {"grep needle, files",
       "grep",
       {{"pattern", "needle"}, {"literal", true}},
       {"--files-with-matches", "--fixed-strings", "--regexp=needle", "."}},
      {"grep needle, lines",
       "grep",
       {{"pattern", "needle"}, {"mode", "content"}},
       {"--line-number", "--regexp=needle", "."}},
  };
  for (const Question& question : questions) {
    for (const char* tier : {kTier0, kTier1}) Compare(report, project, tier, question);
  }
}

}  // namespace pa::bench
