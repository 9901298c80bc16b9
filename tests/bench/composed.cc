// Calls made of calls, beside the same calls made one by one, in the configuration that users get.
#include <fstream>

#include "tests/bench/measure.h"
#include "tests/bench/sections.h"
#include "tests/bench/server.h"

namespace pa::bench {
namespace {

using testing::Json;
using testing::McpClient;
using testing::Project;

constexpr int kSteps = 20;
constexpr int kReads = 100;

constexpr std::string_view kNoop = ".PHONY: noop\nnoop: ## nothing\n\t@:\n";

void Call(McpClient& client, const char* tool, const Json& arguments) {
  MustSucceed(client.Await(client.StartTool(tool, arguments)));
}

// 20 calls that do next to nothing.
void Pipeline(Report& report, const char* tool, const Json& arguments, Goal goal) {
  const Project project(kNoop);
  std::ofstream(project.root() / "file") << "x\n";
  McpClient client(project.Server({"--enable", "make"}));
  client.Initialize();
  Json steps = Json::array();
  for (int i = 0; i < kSteps; ++i) {
    steps.push_back({{"id", "s" + std::to_string(i)}, {"tool", tool}, {"args", arguments}});
  }
  const Action pipeline = Timed([&] { Call(client, "pipeline", {{"steps", steps}}); });
  const Action singly = Timed([&] {
    for (int i = 0; i < kSteps; ++i) Call(client, tool, arguments);
  });
  const std::vector<Samples> times = Interleave(60, {pipeline, singly});
  report.Add({.name = std::string("pipeline of 20 ") + tool,
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "20 calls",
              .ratio = MedianRatio(times[0], times[1]),
              .goal = goal});
}

void Batches(Report& report) {
  const Project project(kNoop);
  Json items = Json::array();
  for (int i = 0; i < kReads; ++i) {
    const std::string name = "file" + std::to_string(i);
    std::ofstream(project.root() / name) << "some text\n";
    items.push_back({{"path", name}});
  }
  McpClient client(project.Server());
  client.Initialize();
  const Action batch = Timed([&] { Call(client, "batch", {{"tool", "read"}, {"items", items}}); });
  const Action singly = Timed([&] {
    for (const Json& item : items) Call(client, "read", item);
  });
  const std::vector<Samples> times = Interleave(30, {batch, singly});
  report.Add({.name = "batch of 100 read",
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "100 calls",
              .ratio = MedianRatio(times[0], times[1]),
              .goal = AtMost(0.5)});
}

// From the call that begins a job until its first line is read.
double FirstLineOfAJob(McpClient& client, const Json& command) {
  Json arguments = command;
  arguments["background"] = true;
  const auto start = Clock::now();
  const std::string id = client.CallTool("bash", arguments)["data"]["job"]["id"];
  const Json read = client.CallTool(
      "job", {{"action", "read"}, {"id", id}, {"offset", 1}, {"timeout_ms", 10'000}});
  const double took = MillisecondsSince(start);
  if (read["data"]["lines"] != "line\n") GiveUp("a job has no line: " + read.dump());
  Call(client, "job", {{"action", "wait"}, {"id", id}});
  return took;
}

void FirstLines(Report& report) {
  const Project project(kNoop);
  McpClient client(project.Server());
  client.Initialize();
  const Json command = {{"command", "echo line"}};
  const std::vector<Samples> times =
      Interleave(100, {[&] { return FirstLineOfAJob(client, command); },
                       Timed([&] { Call(client, "bash", command); })});
  report.Add({.name = "first line of a job",
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "the call",
              .ratio = MedianRatio(times[0], times[1]),
              .goal = AtMost(1.2)});
}

// The same call of a client that takes tasks: its output is kept, in case it becomes one.
void TasksCost(Report& report) {
  const Project project(kNoop);
  McpClient client(project.Server({"--enable", "make"}));
  const Json arguments = {{"target", "noop"}};
  const auto call = [&](const Json& capabilities) {
    return Timed([&client, &arguments, meta = testing::ModernMeta(capabilities)] {
      MustSucceed(client.Await(client.StartTool("make", arguments, meta)));
    });
  };
  const Json tasks = {{"extensions", {{"io.modelcontextprotocol/tasks", Json::object()}}}};
  const std::vector<Samples> times = Interleave(300, {call(tasks), call(Json::object())});
  report.Add({.name = "make noop that may be a task",
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "without tasks",
              .ratio = MedianRatio(times[0], times[1]),
              .goal = AtMost(1.03)});
}

}  // namespace

void Composed(Report& report) {
  report.Section("calls made of calls");
  Pipeline(report, "read", {{"path", "file"}}, AtMost(0.8));
  Pipeline(report, "make", {{"target", "noop"}}, AtMost(1.0));
  Batches(report);
  FirstLines(report);
  TasksCost(report);
}

}  // namespace pa::bench
