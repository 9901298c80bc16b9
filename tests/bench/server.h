// What several sections ask of a server.
#pragma once

#include <string>
#include <vector>

#include "tests/support/mcp_client.h"
#include "tests/support/project.h"

namespace pa::bench {

// One call that must succeed.
void CallMake(testing::McpClient& client, const std::string& target);
void MustSucceed(const testing::Json& reply);

// `make -- TARGET` in the project, without us.
testing::Launch BareMake(const testing::Project& project, const std::string& target);

// --policy with a file that holds `limits`.
std::vector<std::string> WithLimits(const testing::Project& project, const std::string& limits);

// A line of /proc/PID/FILE that begins with `key`, in KiB: VmRSS, VmHWM, Pss.
double ProcKib(pid_t pid, const std::string& file, const std::string& key);

// Calls a second, `flight` of them under way at any time.
double CallsASecond(testing::McpClient& client, const std::string& tool,
                    const testing::Json& arguments, int calls, int flight);

}  // namespace pa::bench
