// 100 MB of output through the server, and how soon the first byte is seen.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/bench/measure.h"
#include "tests/bench/sections.h"
#include "tests/bench/server.h"

namespace pa::bench {
namespace {

using testing::Json;
using testing::McpClient;
using testing::Project;

constexpr std::size_t kBytes = 100'000'000;

// The fastest producer there is: what is measured is who reads.
constexpr std::string_view kOutputMakefile =
    ".PHONY: flood stamp\nflood:\n\t@cat text\nstamp:\n\t@./stamp; sleep 0.02\n";

void WriteOutput(const Project& project) {
  const std::string line = std::string(79, 'x') + "\n";
  std::ofstream out(project.root() / "text");
  for (std::size_t written = 0; written < kBytes; written += line.size()) out << line;
}

// Reads as we do, from a pipe as large as ours, so that a difference is what we do with the bytes.
void Drain(int fd) {
  static char buffer[256 << 10];
  if (fcntl(fd, F_SETPIPE_SZ, 1 << 20) < 0) GiveUp("F_SETPIPE_SZ");
  std::size_t total = 0;
  for (ssize_t got = 1; got > 0; total += static_cast<std::size_t>(got)) {
    got = read(fd, buffer, sizeof buffer);
    if (got < 0) GiveUp("read");
  }
  if (total < kBytes) GiveUp("the raw pipe gave too little");
}

struct Way {
  const char* name;
  const char* limits;
  bool progress;
  std::optional<Goal> goal;
};

void Flood(Report& report, const Project& project, const Way& way) {
  McpClient client(project.Server(With(project, kTier0, way.limits)));
  client.Initialize();
  const auto ours = [&] {
    const Json meta = way.progress ? Json{{"progressToken", "flood"}} : Json();
    MustSucceed(client.Await(client.StartTool("make", {{"target", "flood"}}, meta)));
    client.notifications().clear();
  };
  const auto raw = [&] { RunPiped(BareMake(project, "flood"), Drain); };
  const std::vector<Samples> times = Interleave(15, {Timed(ours), Timed(raw)}, 1);
  report.Add({.name = way.name,
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "raw pipe",
              .ratio = MedianRatio(times[0], times[1]),
              .goal = way.goal});
  report.Add({.name = std::string(way.name) + ": peak resident",
              .unit = "MB",
              .ours = ProcKib(client.pid(), "status", "VmHWM") / kKibPerMb,
              .goal = OursAtMost(16)});
}

double Age(const std::string& stamp) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto nanoseconds = static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  return (nanoseconds - std::stod(stamp)) / 1e6;
}

// Milliseconds from write(2) in the recipe to the notification in the client.
double NotificationAge(McpClient& client) {
  const int id = client.StartTool("make", {{"target", "stamp"}}, {{"progressToken", "stamp"}});
  double age = -1;
  for (Json message; !message.contains("id") || message["id"] != id;) {
    message = client.Read();
    if (message.is_null()) GiveUp("no reply");
    if (age >= 0 || !message.contains("method")) continue;
    const std::string text = message["params"].value("message", "");
    const std::size_t digits = text.find_first_of("0123456789");
    if (digits != std::string::npos) age = Age(text.substr(digits));
  }
  if (age < 0) GiveUp("no progress notification");
  return age;
}

double PipeAge(const Project& project) {
  double age = 0;
  RunPiped(BareMake(project, "stamp"), [&](int fd) {
    char text[64] = {};
    if (read(fd, text, sizeof text - 1) <= 0) GiveUp("no stamp");
    age = Age(text);
    while (read(fd, text, sizeof text) > 0) continue;
  });
  return age;
}

void FirstByte(Report& report, const Project& project) {
  std::filesystem::copy_file(testing::BuiltProgram("PA_BENCH_STAMP"), project.root() / "stamp");
  McpClient client(project.Server(With(project, kTier0)));
  client.Initialize();
  const std::vector<Samples> ages =
      Interleave(60, {[&] { return NotificationAge(client); }, [&] { return PipeAge(project); }});
  report.Add({.name = "first byte written to seen",
              .unit = "ms",
              .ours = Median(ages[0]),
              .reference = Median(ages[1]),
              .against = "raw pipe",
              .ratio = {},
              .goal = OursAtMost(3)});
}

}  // namespace

void Output(Report& report) {
  report.Section("output of 100 MB");
  const Project project(kOutputMakefile);
  WriteOutput(project);
  Flood(report, project, {"output_total 1 MiB", "output_total: 1MiB", false, AtMost(1.2)});
  Flood(report, project, {"output_total 1 MiB, streamed", "output_total: 1MiB", true, {}});
  Flood(report, project, {"all of it kept", "output_total: 256MiB", false, {}});
  FirstByte(report, project);
}

}  // namespace pa::bench
