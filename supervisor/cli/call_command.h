// `project-actions call`: one tool, run as a client would, for people and scripts.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// 125 as in env(1), timeout(1) and docker-run(1): the fault is ours or the call was refused; 124 as
// in timeout(1). Everything else is the command's own status, 128 + N when signal N ended it.
inline constexpr int kExitRefused = 125;
inline constexpr int kExitTimedOut = 124;

int RunCall(const CallCommand& command, const Environment& environment);

}  // namespace pa
