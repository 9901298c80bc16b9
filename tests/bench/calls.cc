// Round trips over MCP, the start of a server, its memory, and many calls at once.
#include <sys/wait.h>

#include <filesystem>
#include <thread>

#include "tests/bench/measure.h"
#include "tests/bench/sections.h"
#include "tests/bench/server.h"
#include "tests/support/processes.h"

namespace pa::bench {
namespace {

using testing::Json;
using testing::McpClient;
using testing::Project;

constexpr int kFlight = 32;

// make starts no shell for this recipe: the least there is to compare with.
constexpr std::string_view kCallsMakefile =
    ".PHONY: noop hold\nnoop: ## nothing\n\t@:\nhold:\n\t@sleep 2\n";

// What namespaces add to a call, as a client sees it.
void RoundTripsWithNamespaces(Report& report) {
  const Project project(kCallsMakefile);
  McpClient client(project.Server(With(project, kTier1)));
  client.Initialize();
  const std::vector<Samples> times =
      Interleave(100, {Timed([&] { CallMake(client, "noop"); }),
                       Timed([&] { RunBare(BareMake(project, "noop")); })});
  report.Add({.name = "make noop, with namespaces",
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "posix_spawn of make",
              .ratio = MedianRatio(times[0], times[1])});
}

void RoundTrips(Report& report) {
  const Project project(kCallsMakefile);
  McpClient client(project.Server(With(project, kTier0)));
  client.Initialize();
  const auto call = [&] { CallMake(client, "noop"); };
  const auto touched = [&] {
    std::filesystem::last_write_time(project.root() / "Makefile",
                                     std::filesystem::file_time_type::clock::now());
    const auto start = Clock::now();
    call();
    return MillisecondsSince(start);
  };
  const Action bare = Timed([&] { RunBare(BareMake(project, "noop")); });
  std::vector<Samples> times = Interleave(300, {Timed(call), bare});
  report.Add({.name = "make noop",
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "posix_spawn of make",
              .ratio = MedianRatio(times[0], times[1]),
              .goal = AtMost(1.5)});
  times = Interleave(100, {touched, bare});
  report.Add({.name = "make noop, Makefile just changed",
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "posix_spawn",
              .ratio = MedianRatio(times[0], times[1])});
}

Json ModernMeta() {
  return {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
          {"io.modelcontextprotocol/clientCapabilities", Json::object()},
          {"io.modelcontextprotocol/clientInfo", {{"name", "bench"}, {"version", "1"}}}};
}

double StartToList(const Project& project, bool modern) {
  const auto start = Clock::now();
  McpClient client(project.Server());
  if (!modern) client.Initialize();
  MustSucceed(
      client.Request("tools/list", modern ? Json{{"_meta", ModernMeta()}} : Json::object()));
  return MillisecondsSince(start);
}

void Start(Report& report) {
  const Project project(kCallsMakefile);
  const std::vector<Samples> times = Interleave(40, {[&] { return StartToList(project, false); },
                                                     [&] { return StartToList(project, true); }});
  report.Add({.name = "start to tools/list, with initialize",
              .unit = "ms",
              .ours = Median(times[0]),
              .goal = OursAtMost(15)});
  report.Add({.name = "start to tools/list, 2026-07-28",
              .unit = "ms",
              .ours = Median(times[1]),
              .goal = OursAtMost(15)});
  McpClient client(project.Server());
  client.Initialize();
  MustSucceed(client.Request("tools/list"));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  report.Add({.name = "resident, idle",
              .unit = "MB",
              .ours = ProcKib(client.pid(), "status", "VmRSS") / kKibPerMb,
              .goal = OursAtMost(12)});
}

double BareASecond(const Project& project, int count) {
  const auto start = Clock::now();
  int started = 0;
  for (; started < kFlight; ++started) testing::Spawn(BareMake(project, "noop"));
  for (int ended = 0; ended < count; ++ended) {
    int status = 0;
    if (waitpid(-1, &status, 0) < 0 || status != 0) GiveUp("make");
    if (started++ < count) testing::Spawn(BareMake(project, "noop"));
  }
  return count / (MillisecondsSince(start) / 1000);
}

// All of it waits in `sleep`: what is there then is what calls hold.
double MegabytesACall(McpClient& client) {
  const double before = ProcKib(client.pid(), "status", "VmRSS");
  for (int i = 0; i < kFlight; ++i) client.StartTool("make", {{"target", "hold"}});
  const auto all_run = [&] { return testing::WorkersOf(client.pid()).size() == kFlight; };
  if (!testing::Eventually(all_run)) GiveUp("not all calls run at once");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  double kib = ProcKib(client.pid(), "status", "VmRSS") - before;
  for (const pid_t guardian : testing::WorkersOf(client.pid())) {
    kib += ProcKib(guardian, "smaps_rollup", "Pss");
  }
  for (int ended = 0; ended < kFlight;) ended += client.Read().contains("id") ? 1 : 0;
  return kib / kKibPerMb / kFlight;
}

void ManyAtOnce(Report& report) {
  const Project project(kCallsMakefile);
  McpClient client(project.Server(With(project, kTier0, "concurrent: 32, queue: 64")));
  client.Initialize();
  constexpr int kCalls = 320;
  const std::vector<Samples> rates = Interleave(
      9,
      {[&] { return Fly(client, "make", {{"target", "noop"}}, kCalls, kFlight).calls_a_second; },
       [&] { return BareASecond(project, kCalls); }},
      1);
  report.Add({.name = "32 in flight",
              .unit = "calls/s",
              .ours = Median(rates[0]),
              .reference = Median(rates[1]),
              .against = "32 bare makes",
              .ratio = MedianRatio(rates[0], rates[1]),
              .goal = AtLeast(0.8)});
  report.Add({.name = "memory of a call, guardian included",
              .unit = "MB",
              .ours = MegabytesACall(client),
              .goal = OursAtMost(2)});
}

}  // namespace

void Calls(Report& report) {
  report.Section("calls over MCP");
  RoundTrips(report);
  RoundTripsWithNamespaces(report);
  Start(report);
  ManyAtOnce(report);
}

}  // namespace pa::bench
