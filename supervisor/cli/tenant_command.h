// `project-actions tenant add | list | remove`: the tenants of a machine (docs/daemon.md), for its
// administrator. Each step is said; if one fails, those before it are undone.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// Standard output is the tenant's first token, and nothing else. 1: a step has failed.
int RunTenantAdd(const TenantAddCommand& command, const Environment& environment);
int RunTenantList(const TenantListCommand& command);
int RunTenantRemove(const TenantRemoveCommand& command);

}  // namespace pa
