// Reading, writing and editing files, beside @modelcontextprotocol/server-filesystem, which has no
// sandbox.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
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

testing::ServerOptions FilePeerOf(const Project& project, const std::string& program) {
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

class FileComparison {
 public:
  FileComparison(Report& report, const Project& project, const std::string& program)
      : report_(report),
        project_(project),
        ours_(project.Server(With(project, kTier0, "concurrent: 32, queue: 64"))),
        theirs_(FilePeerOf(project, program)) {
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
    if (what.rounds >= 100) AddSlowest(what.name, times);
  }

  void Throughput() {
    const Json theirs = Theirs({{"path", "1k"}});
    std::vector<Samples> latencies(2);
    const auto fly = [&](std::size_t whose, McpClient& client, const char* tool, Json arguments) {
      const Flight flight = Fly(client, tool, arguments, 1000, 32);
      latencies[whose].insert(latencies[whose].end(), flight.latencies.begin(),
                              flight.latencies.end());
      return flight.calls_a_second;
    };
    const std::vector<Samples> rates =
        Interleave(5,
                   {[&] { return fly(0, ours_, "read", {{"path", "1k"}}); },
                    [&] { return fly(1, theirs_, "read_text_file", theirs); }},
                   1);
    report_.Add({.name = "32 in flight, read 1 KiB",
                 .unit = "calls/s",
                 .ours = Median(rates[0]),
                 .reference = Median(rates[1]),
                 .against = "its own",
                 .ratio = MedianRatio(rates[0], rates[1]),
                 .goal = AtLeast(1)});
    report_.Add({.name = "32 in flight, half of them within",
                 .unit = "ms",
                 .ours = Median(latencies[0]),
                 .reference = Median(latencies[1]),
                 .against = "its own"});
    AddSlowest("32 in flight", latencies);
  }

  // Each a file of its own, then one line of one file, there and back. The peer syncs nothing.
  void Changes(bool sync, std::optional<Goal> goal) {
    const std::string tier =
        std::string(kTier0) + "filesystem: {sync: " + (sync ? "true" : "false");
    McpClient ours(project_.Server(With(project_, (tier + "}\n").c_str())));
    ours.Initialize();
    const std::string with = sync ? ", with fsync" : "";
    const std::string content(1024, 'x');
    int ours_made = 0;
    int theirs_made = 0;
    Compare(
        "write 1 KiB" + with, goal, ours,
        [&](bool us) {
          const std::string name =
              (us ? "ours" : "theirs") + std::to_string(us ? ours_made++ : theirs_made++);
          return Json{{"path", with + name}, {"content", content}};
        },
        "write", "write_file");
    for (const char* name : {"ours", "theirs"}) MakeEditable(name);
    bool flips[2] = {};
    Compare(
        "edit 1 KiB" + with, goal, ours,
        [&](bool us) {
          const bool flip = flips[us] = !flips[us];
          const char* from = flip ? "flip" : "flop";
          const char* to = flip ? "flop" : "flip";
          if (!us)
            return Json{{"path", "theirs"}, {"edits", {{{"oldText", from}, {"newText", to}}}}};
          return Json{{"edits", {{{"path", "ours"}, {"old", from}, {"new", to}}}}};
        },
        "edit", "edit_file");
  }

  void Memory() {
    report_.Add({.name = "memory at most, 50 MB among it",
                 .unit = "MiB",
                 .ours = ProcKib(ours_.pid(), "status", "VmHWM") / 1024,
                 .reference = ProcKib(theirs_.pid(), "status", "VmHWM") / 1024,
                 .against = "its own"});
  }

 private:
  template <typename Arguments>
  void Compare(const std::string& name, std::optional<Goal> goal, McpClient& ours,
               Arguments arguments, const char* our_tool, const char* their_tool) {
    const auto call = [&] { MustSucceed(ours.Await(ours.StartTool(our_tool, arguments(true)))); };
    const auto peer = [&] {
      MustSucceed(theirs_.Await(theirs_.StartTool(their_tool, Theirs(arguments(false)))));
    };
    const std::vector<Samples> times = Interleave(300, {Timed(call), Timed(peer)});
    report_.Add({.name = name,
                 .unit = "ms",
                 .ours = Median(times[0]),
                 .reference = Median(times[1]),
                 .against = std::string("its ") + their_tool,
                 .ratio = MedianRatio(times[0], times[1]),
                 .goal = goal});
    AddSlowest(name, times);
  }

  void AddSlowest(const std::string& name, const std::vector<Samples>& times) {
    report_.Add({.name = name + ", 99 % within",
                 .unit = "ms",
                 .ours = NinetyNinth(times[0]),
                 .reference = NinetyNinth(times[1]),
                 .against = "its own"});
  }

  void MakeEditable(const std::string& name) const {
    MakeFile(project_, name.c_str(), 1024);
    std::ofstream(project_.root() / name, std::ios::app) << "flip\n";
  }

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
  FileComparison comparison(report, project, program);
  const Question questions[] = {
      {"read 1 KiB", {{"path", "1k"}}, {{"path", "1k"}}, 0.75, 300},
      {"read 4 KiB", {{"path", "4k"}}, {{"path", "4k"}}, 0.75, 300},
      {"the first 20 lines of 50 MB",
       {{"path", "large"}, {"limit", 20}},
       {{"path", "large"}, {"head", 20}},
       3,
       20},
      {"the last 20 lines of 50 MB",
       {{"path", "large"}, {"offset", -20}},
       {{"path", "large"}, {"tail", 20}},
       1,
       20},
      {"50 MB", {{"path", "large"}, {"whole", true}}, {{"path", "large"}}, 1, 7},
  };
  for (const Question& question : questions) comparison.Ask(question);
  comparison.Throughput();
  comparison.Changes(false, AtMost(1));
  comparison.Changes(true, std::nullopt);
  comparison.Memory();
}

}  // namespace pa::bench
