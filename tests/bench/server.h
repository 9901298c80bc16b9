// What several sections need: a server, its calls, and make without it.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/measure.h"
#include "tests/support/mcp_client.h"
#include "tests/support/project.h"

namespace pa::bench {

// One call that must succeed.
void CallMake(testing::McpClient& client, const std::string& target);
void MustSucceed(const testing::Json& reply);

// `make -- TARGET` in the project, without us.
testing::Launch BareMake(const testing::Project& project, const std::string& target);

// Makes `folders` with `files` each, and a repository in which all are committed.
void FillRepository(const testing::Project& project, int folders, int files);

// The tier of a server's commands, as a line of policy.
inline constexpr const char* kTier0 = "namespaces: off\n";
inline constexpr const char* kTier1 = "namespaces: require\n";

// --policy with a file that has this tier and these `limits`.
std::vector<std::string> With(const testing::Project& project, const char* tier,
                              const std::string& limits = "");

// The value of the line of /proc/PID/FILE that begins with `key`, in KiB: VmRSS, VmHWM, Pss.
double ProcKib(pid_t pid, const std::string& file, const std::string& key);

// Makes many calls, `flight` of them under way at any time.
struct Flight {
  double calls_a_second = 0;
  Samples latencies;
};
Flight Fly(testing::McpClient& client, const std::string& tool, const testing::Json& arguments,
           int calls, int flight);

}  // namespace pa::bench
