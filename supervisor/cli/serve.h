// `project-actions serve`: serves MCP on standard input and output until the client closes them.
//
//    auto spawner = SpawnerProcess::Fork(LoadsOfServer(argc, argv));   // first of all: it is small
//    return RunServe(command, environment, std::move(spawner));
#pragma once

#include <memory>

#include "base/error.h"
#include "supervisor/cli/command_line.h"
#include "supervisor/spawner/spawner_process.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// What the spawner of a server with this command line and our environment reads.
SpawnerLoads LoadsOfServer(int argc, char** argv);

// End of input, SIGINT and SIGTERM end the server and all running calls. SIGHUP reloads the policy;
// if that fails, the old one stays in force. Returns 0 unless the server could not start.
int RunServe(const ServeCommand& command, const Environment& environment,
             Result<std::unique_ptr<SpawnerProcess>> spawner);

}  // namespace pa
