// `project-actions call`: runs one tool as a client would, for people and scripts.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// 125, as in env(1), timeout(1) and docker-run(1): the call was refused, cancelled or stopped at a
// limit, or the server failed. 124, as in timeout(1): timed out. Otherwise the command's own
// status, or 128 + N if signal N killed it.
inline constexpr int kExitRefused = 125;
inline constexpr int kExitTimedOut = 124;

int RunCall(const CallCommand& command, const Environment& environment);

}  // namespace pa
