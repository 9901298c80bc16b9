// `project-actions serve`: serves MCP on standard input and output until the client closes them.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// End of input, SIGINT and SIGTERM end the server and all running calls. SIGHUP reloads the policy;
// if that fails, the old one stays in force. Returns 0 unless the server could not start.
int RunServe(const ServeCommand& command, const Environment& environment);

}  // namespace pa
