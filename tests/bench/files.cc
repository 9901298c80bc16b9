// Reading files, beside @modelcontextprotocol/server-filesystem, which has no sandbox.
#include <cstdlib>
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

constexpr std::size_t kLarge = 50'000'000;

void MakeFile(const Project& project, const char* name, std::size_t size) {
  const std::string line = "a line of sixty-four bytes, as lines of programs are, and an end";
  std::ofstream out(project.root() / name);
  for (std::size_t written = 0; written < size; written += line.size()) {
    out << line.substr(0, line.size() - 1) << '\n';
  }
}

testing::ServerOptions PeerOf(const Project& project, const std::string& program) {
  return {.arguments = {},
          .directory = project.root(),
          .home = project.home(),
          .command = {OnPath("node"), program, project.root().string()}};
}

struct Question {
  const char* name;
  Json ours;    // of read
  Json theirs;  // of read_text_file
  double goal;
  int rounds;
};

class Comparison {
 public:
  Comparison(Report& report, const Project& project, const std::string& program)
      : report_(report),
        project_(project),
        ours_(project.Server(With(project, kTier0, "concurrent: 32, queue: 64"))),
        theirs_(PeerOf(project, program)) {
    ours_.Initialize();
    theirs_.Initialize();
  }

  void Ask(const Question& what) {
    const Json theirs = Theirs(what.theirs);
    const auto read = [&] { MustSucceed(ours_.Await(ours_.StartTool("read", what.ours))); };
    const auto peer = [&] {
      MustSucceed(theirs_.Await(theirs_.StartTool("read_text_file", theirs)));
    };
    const std::vector<Samples> times = Interleave(what.rounds, {Timed(read), Timed(peer)});
    report_.Add({.name = what.name,
                 .unit = "ms",
                 .ours = Median(times[0]),
                 .reference = Median(times[1]),
                 .against = "its read_text_file",
                 .ratio = MedianRatio(times[0], times[1]),
                 .goal = AtMost(what.goal)});
  }

  void Throughput() {
    const Json theirs = Theirs({{"path", "1k"}});
    const std::vector<Samples> rates =
        Interleave(5,
                   {[&] { return CallsASecond(ours_, "read", {{"path", "1k"}}, 1000, 32); },
                    [&] { return CallsASecond(theirs_, "read_text_file", theirs, 1000, 32); }},
                   1);
    report_.Add({.name = "32 in flight, read 1 KiB",
                 .unit = "calls/s",
                 .ours = Median(rates[0]),
                 .reference = Median(rates[1]),
                 .against = "its own",
                 .ratio = MedianRatio(rates[0], rates[1]),
                 .goal = AtLeast(1)});
  }

  void Memory() {
    report_.Add({.name = "memory at most, 50 MB among it",
                 .unit = "MiB",
                 .ours = ProcKib(ours_.pid(), "status", "VmHWM") / 1024,
                 .reference = ProcKib(theirs_.pid(), "status", "VmHWM") / 1024,
                 .against = "its own"});
  }

 private:
  Json Theirs(Json arguments) const {
    arguments["path"] = (project_.root() / arguments["path"].get<std::string>()).string();
    return arguments;
  }

  Report& report_;
  const Project& project_;
  McpClient ours_, theirs_;
};

}  // namespace

void Files(Report& report) {
  report.Section("files, beside server-filesystem, unconfined");
  const char* program = getenv("PA_BENCH_FILE_PEER");
  if (program == nullptr) {
    const char* why = getenv("PA_BENCH_NO_PEER");
    return report.Skip("read", why != nullptr ? why : "PA_BENCH_FILE_PEER not set");
  }
  const Project project("");
  MakeFile(project, "1k", 1024);
  MakeFile(project, "4k", 4096);
  MakeFile(project, "large", kLarge);
  Comparison comparison(report, project, program);
  const Question questions[] = {
      {"read 1 KiB", {{"path", "1k"}}, {{"path", "1k"}}, 0.75, 300},
      {"read 4 KiB", {{"path", "4k"}}, {{"path", "4k"}}, 0.75, 300},
      {"the first 20 lines of 50 MB",
       {{"path", "large"}, {"limit", 20}},
       {{"path", "large"}, {"head", 20}},
       1,
       20},
      {"the last 20 lines of 50 MB",
       {{"path", "large"}, {"offset", -20}},
       {{"path", "large"}, {"tail", 20}},
       1,
       20},
      {"50 MB", {{"path", "large"}}, {{"path", "large"}}, 1, 7},
  };
  for (const Question& question : questions) comparison.Ask(question);
  comparison.Throughput();
  comparison.Memory();
}

}  // namespace pa::bench
