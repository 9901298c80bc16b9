// `project-actions serve`: MCP on standard input and output until the client goes away.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// End of input, SIGINT and SIGTERM end it, running work included; SIGHUP reads the policy again,
// all or nothing. The exit status is 0 unless it could not start.
int RunServe(const ServeCommand& command, const Environment& environment);

}  // namespace pa
