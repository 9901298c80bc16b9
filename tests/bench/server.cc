#include "tests/bench/server.h"

#include <fstream>
#include <optional>
#include <vector>

#include "tests/bench/measure.h"

namespace pa::bench {

using testing::Json;

void MustSucceed(const Json& reply) {
  if (!reply.contains("result") || reply["result"].value("isError", false)) {
    GiveUp("a call failed: " + reply.dump());
  }
}

void CallMake(testing::McpClient& client, const std::string& target) {
  MustSucceed(client.Await(client.StartTool("make", {{"target", target}})));
}

testing::Launch BareMake(const testing::Project& project, const std::string& target) {
  return {.command = {"make", "--", target},
          .environment = {"HOME=" + project.home().string()},
          .directory = project.root()};
}

std::vector<std::string> With(const testing::Project& project, const char* tier,
                              const std::string& limits) {
  const std::string file = project.home() / "policy.yaml";
  testing::WriteText(file, std::string("version: 1\n") + tier + "limits: {" + limits + "}\n");
  return {"--policy", file};
}

double ProcKib(pid_t pid, const std::string& file, const std::string& key) {
  std::ifstream lines("/proc/" + std::to_string(pid) + "/" + file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1));
  }
  return 0;
}

// The processors are to be the server's and its commands': a reply is read as JSON when the time is
// taken.
Flight Fly(testing::McpClient& client, const std::string& tool, const Json& arguments, int calls,
           int flight) {
  const std::string rest = R"(","method":"tools/call","params":)" +
                           Json{{"name", tool}, {"arguments", arguments}}.dump() + "}";
  constexpr std::string_view kId = "\"bench-";
  std::vector<Clock::time_point> starts;
  const auto start_one = [&] {
    starts.push_back(Clock::now());
    client.SendLine(R"({"jsonrpc":"2.0","id":"bench-)" + std::to_string(starts.size() - 1) + rest);
  };
  Flight all;
  std::vector<std::string> replies;
  const auto start = Clock::now();
  while (static_cast<int>(starts.size()) < flight) start_one();
  while (static_cast<int>(replies.size()) < calls) {
    std::optional<std::string> line = client.ReadLine();
    if (!line) GiveUp("no reply");
    const std::size_t id = line->find(kId);
    if (id == std::string::npos) continue;  // a notification
    all.latencies.push_back(MillisecondsSince(starts[std::stoul(line->substr(id + kId.size()))]));
    replies.push_back(std::move(*line));
    if (static_cast<int>(starts.size()) < calls) start_one();
  }
  all.calls_a_second = calls / (MillisecondsSince(start) / 1000);
  for (const std::string& reply : replies) MustSucceed(Json::parse(reply));
  return all;
}

void FillRepository(const testing::Project& project, int folders, int files) {
  for (int folder = 0; folder < folders; ++folder) {
    const std::filesystem::path path = project.root() / ("folder" + std::to_string(folder));
    std::filesystem::create_directory(path);
    for (int file = 0; file < files; ++file) std::ofstream(path / std::to_string(file)) << file;
  }
  project.InitGit();
  if (project.Git({"add", "--all"}).exit_code != 0) GiveUp("git add");
  if (project.Git({"commit", "-q", "-m", "all"}).exit_code != 0) GiveUp("git commit");
}

}  // namespace pa::bench
