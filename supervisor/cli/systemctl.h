// Systemctl: asks systemd by its own program, for commands that an administrator runs.
//
//    Result<void> done = Systemctl({"stop", "project-actions@1000.service"});
//    Result<std::string> lines = SystemctlOutput({"list-units", ...});
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace pa {

bool SystemdRuns();

// Its messages are on our standard error.
Result<void> Systemctl(std::vector<std::string> words);
// What it prints. Also an error: more than a megabyte.
Result<std::string> SystemctlOutput(std::vector<std::string> words);

}  // namespace pa
