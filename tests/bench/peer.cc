// mcp-server-commands, an MCP server for Node that runs commands, without a sandbox.
#include <cstdlib>
#include <thread>

#include "tests/bench/measure.h"
#include "tests/bench/sections.h"
#include "tests/bench/server.h"

namespace pa::bench {
namespace {

using testing::Json;
using testing::McpClient;
using testing::Project;

testing::ServerOptions PeerOf(const Project& project, const std::string& program) {
  return {.arguments = {},
          .directory = project.root(),
          .home = project.home(),
          .command = {OnPath("node"), program}};
}

double StartToList(const testing::ServerOptions& options) {
  const auto start = Clock::now();
  McpClient client(options);
  client.Initialize();
  MustSucceed(client.Request("tools/list"));
  return MillisecondsSince(start);
}

void Compare(Report& report, const Project& project, const std::string& program) {
  McpClient ours(project.Server(With(project, kTier0, "concurrent: 32, queue: 64")));
  McpClient theirs(PeerOf(project, program));
  ours.Initialize();
  theirs.Initialize();
  const auto run = [&](const char* command) {
    return Timed([&theirs, command] {
      MustSucceed(theirs.Await(theirs.StartTool("run_command", {{"command", command}})));
    });
  };
  const std::vector<Samples> times =
      Interleave(150, {Timed([&] { CallMake(ours, "noop"); }), run("make -- noop"), run("true")});
  const auto add = [&](const char* against, const Samples& reference) {
    report.Add({.name = "make noop",
                .unit = "ms",
                .ours = Median(times[0]),
                .reference = Median(reference),
                .against = against,
                .ratio = MedianRatio(times[0], reference),
                .goal = AtMost(1)});
  };
  add("its make noop", times[1]);
  add("its true", times[2]);
  const std::vector<Samples> rates = Interleave(
      5,
      {[&] { return Fly(ours, "make", {{"target", "noop"}}, 320, 32).calls_a_second; },
       [&] { return Fly(theirs, "run_command", {{"command", "true"}}, 320, 32).calls_a_second; }},
      1);
  report.Add({.name = "32 in flight, make noop",
              .unit = "calls/s",
              .ours = Median(rates[0]),
              .reference = Median(rates[1]),
              .against = "its true",
              .ratio = MedianRatio(rates[0], rates[1]),
              .goal = AtLeast(1)});
}

void Start(Report& report, const Project& project, const std::string& program) {
  const std::vector<Samples> times =
      Interleave(7, {[&] { return StartToList(project.Server()); },
                     [&] { return StartToList(PeerOf(project, program)); }});
  report.Add({.name = "start to tools/list",
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "its own",
              .ratio = MedianRatio(times[0], times[1])});
}

}  // namespace

void Peer(Report& report) {
  report.Section("beside mcp-server-commands, unconfined");
  const char* program = getenv("PA_BENCH_PEER");
  if (program == nullptr) {
    const char* why = getenv("PA_BENCH_NO_PEER");
    return report.Skip("round trips", why != nullptr ? why : "PA_BENCH_PEER not set");
  }
  const Project project(".PHONY: noop\nnoop:\n\t@:\n");
  Compare(report, project, program);
  Start(report, project, program);
}

}  // namespace pa::bench
