// `project-actions init CLIENT`: adds this server to a client's configuration, and switches the
// client's own tools off with --exclusive; takes both away with --remove.
#pragma once

#include <expected>
#include <string>

#include "supervisor/cli/command_line.h"
#include "supervisor/clients/client_config.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// The entry with which the client starts `program` with the options, whose paths must be absolute;
// the first root is the project. The error says which word cannot be written.
std::expected<ServerEntry, std::string> EntryFor(const Client& client, const CommonOptions& options,
                                                 const std::string& program);

// 0: the configuration is as it was asked for. 1: it is not; stderr says why.
int RunInit(const InitCommand& command, const Environment& environment);

}  // namespace pa
