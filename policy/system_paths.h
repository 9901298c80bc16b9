// SystemPaths: the part of every Linux distribution that commands may read and execute without
// asking: programs, libraries, and the few files of /etc that they cannot work without.
#pragma once

#include <string>
#include <vector>

#include "sandbox/confinement.h"

namespace pa::policy {

// Those that exist here, resolved, without the ones that another covers (/bin on a merged /usr).
std::vector<sandbox::PathGrant> SystemPaths();
// What a command with a network needs besides: where name servers are written down.
std::vector<sandbox::PathGrant> NetworkPaths();

// All of them as programs know them, and what stands in the root directory: where symlinks lead to
// them by. Names that are not here are left out.
std::vector<std::string> SystemNames();

}  // namespace pa::policy
