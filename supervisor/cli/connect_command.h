// `project-actions connect ADDRESS`: passes standard input and output on to a server that runs
// already, for clients that only start programs.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// Until the server ends the connection, which it does after the end of standard input. 0, or 1 if
// the server is not there or does not serve this client; stderr says why.
int RunConnect(const ConnectCommand& command, const Environment& environment);

}  // namespace pa
