#include "tests/bench/server.h"

#include <fstream>

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

std::vector<std::string> WithLimits(const testing::Project& project, const std::string& limits) {
  const std::string file = project.home() / "policy.yaml";
  testing::WriteText(file, "version: 1\nlimits: {" + limits + "}\n");
  return {"--policy", file};
}

double ProcKib(pid_t pid, const std::string& file, const std::string& key) {
  std::ifstream lines("/proc/" + std::to_string(pid) + "/" + file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1));
  }
  return 0;
}

double CallsASecond(testing::McpClient& client, const std::string& tool, const Json& arguments,
                    int calls, int flight) {
  const auto start = Clock::now();
  int started = 0;
  while (started < flight) started += client.StartTool(tool, arguments) > 0 ? 1 : 0;
  for (int ended = 0; ended < calls;) {
    const Json message = client.Read();
    if (message.is_null()) GiveUp("no reply");
    if (!message.contains("id")) continue;
    MustSucceed(message);
    ++ended;
    if (started++ < calls) client.StartTool(tool, arguments);
  }
  return calls / (MillisecondsSince(start) / 1000);
}

}  // namespace pa::bench
