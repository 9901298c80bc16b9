// 10^6 rows of JSON that a command prints, filtered and projected, beside jq on the same rows; what
// else the server does meanwhile.
#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "tests/bench/measure.h"
#include "tests/bench/sections.h"
#include "tests/bench/server.h"

namespace pa::bench {
namespace {

using testing::Json;
using testing::McpClient;
using testing::Project;

constexpr int kRows = 1'000'000;

void WriteRows(const Project& project) {
  std::ofstream out(project.root() / "rows.jsonl");
  const std::string text(80, 'x');
  for (int i = 0; i < kRows; ++i) {
    out << R"({"id": )" << i << R"(, "name": "item )" << i << R"(", "status": ")"
        << (i % 2 == 0 ? "open" : "closed") << R"(", "text": ")" << text << "\"}\n";
  }
}

const Json kQuery = {
    {"target", "rows"},
    {"result", {{"items", "json"}, {"filter", "status = open"}, {"fields", {"id", "name"}}}}};

struct Query {
  double whole = 0;  // ms: the call
  double own = 0;    // without the command's own time
};

Query Ask(McpClient& client) {
  const auto start = Clock::now();
  const Json reply = client.Await(client.StartTool("make", kQuery));
  const double whole = MillisecondsSince(start);
  const Json& result = reply["result"]["structuredContent"];
  if (result["meta"]["items"]["matched"] != kRows / 2) GiveUp("wrong rows: " + result.dump());
  return {.whole = whole, .own = whole - result["data"]["duration_ms"].get<double>()};
}

void Rows(Report& report, const Project& project, McpClient& client, const std::string& jq) {
  double whole = 0;
  std::vector<double> wholes;
  const auto ours = [&] {
    const Query query = Ask(client);
    whole = query.whole;
    wholes.push_back(whole);
    return query.own;
  };
  const auto theirs = Timed([&] {
    RunBare({.command = {jq, "-c", R"(select(.status=="open")|{id,name})", "rows.jsonl"},
             .directory = project.root()});
  });
  const std::vector<Samples> times = Interleave(7, {ours, theirs}, 1);
  report.Add({.name = "10^6 rows, filter and two fields",
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "jq",
              .ratio = MedianRatio(times[0], times[1]),
              .goal = AtMost(1.0 / 8)});
  report.Add({.name = "the same with the command that prints them",
              .unit = "ms",
              .ours = Median(wholes),
              .reference = Median(times[1]),
              .against = "jq",
              .ratio = Median(wholes) / Median(times[1])});
}

// The longest answer to a ping, and the most anonymous memory, while a query runs.
void Meanwhile(Report& report, const Project& project) {
  McpClient client(project.Server(With(project, kTier0)));
  client.Initialize();
  const double before = ProcKib(client.pid(), "status", "RssAnon");
  const auto start = Clock::now();
  const int id = client.StartTool("make", kQuery);
  double slowest = 0;
  double most = before;
  // Somewhat longer than the call takes; what comes after it does not harm.
  while (MillisecondsSince(start) < 800) {
    const auto asked = Clock::now();
    if (client.Request("ping").is_null()) GiveUp("no answer to a ping");
    slowest = std::max(slowest, MillisecondsSince(asked));
    most = std::max<double>(most, ProcKib(client.pid(), "status", "RssAnon"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  client.Await(id);
  report.Add(
      {.name = "a ping meanwhile, at most", .unit = "ms", .ours = slowest, .goal = OursAtMost(50)});
  report.Add({.name = "anonymous memory, more by",
              .unit = "MB",
              .ours = (most - before) / kKibPerMb,
              .goal = OursAtMost(16 * 1.048576)});
}

}  // namespace

void Results(Report& report) {
  report.Section("10^6 rows of JSON through `result`");
  const std::string jq = OnPath("jq");
  if (jq.empty()) return report.Skip("filter and fields", "jq is not installed");
  const Project project(".PHONY: rows\nrows:\n\t@cat rows.jsonl\n");
  WriteRows(project);
  McpClient client(project.Server(With(project, kTier0)));
  client.Initialize();
  Rows(report, project, client, jq);
  Meanwhile(report, project);
}

}  // namespace pa::bench
