// `project-actions init CLIENT`: this server in a client's configuration.
#pragma once

#include <expected>
#include <string>

#include "supervisor/cli/command_line.h"
#include "supervisor/clients/client_config.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// What the client shall start: `program` with the options, whose paths are absolute; the first root
// is the project. The error says which word cannot be written.
std::expected<ServerEntry, std::string> EntryFor(const Client& client, const CommonOptions& options,
                                                 const std::string& program);

// 0: the entry is there. 1: it is not, and why.
int RunInit(const InitCommand& command, const Environment& environment);

}  // namespace pa
