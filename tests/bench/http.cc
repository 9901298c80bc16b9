// A server that listens, beside Node's own http and the official SDK behind express: the same
// requests, and to tools/list the same answer.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/bench/http_load.h"
#include "tests/bench/measure.h"
#include "tests/bench/sections.h"
#include "tests/bench/server.h"

namespace pa::bench {
namespace {

using testing::Json;
using testing::Project;

std::string TokenOf(const Project& project) {
  std::string token;
  RunPiped({.command = {testing::BuiltProgram("PA_SERVER"), "token", "new", "bench"},
            .environment = {"HOME=" + project.home().string()}},
           [&](int fd) {
             char text[128];
             const ssize_t got = read(fd, text, sizeof text);
             if (got > 0) token.assign(text, static_cast<std::size_t>(got));
           });
  return token.substr(0, token.find('\n'));
}

struct Side {
  const char* name;
  std::uint16_t port;
  std::string request;
};

void Compare(Report& report, const std::string& what, const Side& ours,
             const std::vector<std::pair<Side, std::optional<Goal>>>& others) {
  std::vector<Action> actions;
  std::vector<Samples> latencies(1);
  constexpr std::size_t kConnections = 64;
  actions.emplace_back([&] {
    const Flight flight = Load(ours.port, ours.request, 3000, kConnections);
    latencies[0].insert(latencies[0].end(), flight.latencies.begin(), flight.latencies.end());
    return flight.calls_a_second;
  });
  for (const auto& [side, goal] : others) {
    const int requests = std::string_view(side.name) == "node http" ? 3000 : 300;
    actions.emplace_back([&side, requests] {
      return Load(side.port, side.request, requests, kConnections).calls_a_second;
    });
  }
  const std::vector<Samples> rates = Interleave(7, actions, 1);
  for (std::size_t i = 0; i < others.size(); ++i) {
    report.Add({.name = what + ", 64 connections",
                .unit = "requests/s",
                .ours = Median(rates[0]),
                .reference = Median(rates[i + 1]),
                .against = others[i].first.name,
                .ratio = MedianRatio(rates[0], rates[i + 1]),
                .goal = others[i].second});
  }
  report.Add({.name = what + ", p50", .unit = "ms", .ours = Median(latencies[0])});
  report.Add({.name = what + ", p99", .unit = "ms", .ours = NinetyNinth(latencies[0])});
}

void Memory(Report& report, const Side& ours, pid_t pid) {
  const auto memory = [&] { return ProcKib(pid, "smaps_rollup", "Private_Dirty") / kKibPerMb; };
  const double before = memory();
  report.Add({.name = "idle, private memory", .unit = "MB", .ours = before});
  {
    std::vector<std::unique_ptr<Client>> stalled;
    for (int i = 0; i < 50; ++i) {
      stalled.push_back(std::make_unique<Client>(ours.port, ours.request));
      const int fd = stalled.back()->fd();
      constexpr int kSmall = 4096;
      setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kSmall, sizeof kSmall);
      for (int sent = 0; sent < 100; ++sent) {
        if (send(fd, ours.request.data(), ours.request.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
          break;
      }
    }
    Load(ours.port, ours.request, 10, 1);
    report.Add({.name = "50 clients that read nothing",
                .unit = "MB more",
                .ours = memory() - before,
                .goal = OursAtMost(4)});
  }
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 500; ++i) idle.push_back(std::make_unique<Client>(ours.port, ours.request));
  for (const auto& client : idle) {
    client->Ask();
    while (!client->Hear()) continue;
  }
  report.Add({.name = "500 connections, each with one answer",
              .unit = "MB more",
              .ours = memory() - before,
              .goal = OursAtMost(5)});
}

}  // namespace

void Http(Report& report) {
  report.Section("a server that listens");
  const Project project(".PHONY: noop\nnoop:\n\t@:\n");
  testing::WriteText(project.root() / "kib", std::string(1024, 'x'));
  const std::string token = TokenOf(project);
  Listening server({.command = {testing::BuiltProgram("PA_SERVER"), "serve", "--listen",
                                "http://127.0.0.1:0", "--root", project.root(), "--enable", "all"},
                    .environment = {"HOME=" + project.home().string()}},
                   true);
  const std::uint16_t port = server.Port("127.0.0.1:");
  const Json meta = testing::ModernMeta();
  const std::string known = "Host: 127.0.0.1:" + std::to_string(port) +
                            "\r\nAuthorization: Bearer " + token +
                            "\r\nMCP-Protocol-Version: 2026-07-28\r\n";
  const auto message = [](const char* method, Json params) {
    return Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}};
  };
  const Side list{
      "", port,
      Post(message("tools/list", {{"_meta", meta}}), known + "Mcp-Method: tools/list\r\n")};
  const Side reading{
      "", port,
      Post(message("tools/call",
                   {{"name", "read"}, {"arguments", {{"path", "kib"}}}, {"_meta", meta}}),
           known + "Mcp-Method: tools/call\r\nMcp-Name: read\r\n")};
  Memory(report, list, server.pid());
  const char* peer = getenv("PA_BENCH_HTTP_PEER");
  if (peer == nullptr) {
    const char* why = getenv("PA_BENCH_NO_PEER");
    return report.Skip("requests/s", why != nullptr ? why : "PA_BENCH_HTTP_PEER not set");
  }
  Client first(port, list.request);
  first.Ask();
  while (!first.Hear()) continue;
  testing::WriteText(project.outside() / "answer", first.Body());
  const auto node = [&](const char* mode) -> testing::Launch {
    return {.command = {OnPath("node"), peer, mode, (project.outside() / "answer").string()},
            .directory = project.root()};
  };
  Listening bare(node("bare"), false);
  Listening sdk(node("sdk"), false);
  const std::uint16_t bare_port = bare.Port("");
  const std::uint16_t sdk_port = sdk.Port("");
  const std::string host = "Host: 127.0.0.1\r\n";
  Compare(
      report, "tools/list", list,
      {{{"node http", bare_port, Post(message("tools/list", Json::object()), host)}, AtLeast(1)},
       {{"the SDK behind express", sdk_port, Post(message("tools/list", Json::object()), host)},
        AtLeast(20)}});
  const Json theirs = message("tools/call", {{"name", "read_text_file"},
                                             {"arguments", {{"path", project.root() / "kib"}}}});
  Compare(
      report, "read 1 KiB", reading,
      {{{"server-filesystem behind the SDK", sdk_port, Post(theirs, host, "/files")}, AtLeast(5)}});
}

}  // namespace pa::bench
