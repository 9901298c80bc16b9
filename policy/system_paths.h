// SystemPaths: the part of every Linux distribution that commands may always read and execute:
// programs, libraries, and the few files of /etc that they cannot work without.
#pragma once

#include <string>
#include <vector>

#include "sandbox/confinement.h"

namespace pa::policy {

// The paths that exist here, resolved, without those that another one covers (/bin on a merged
// /usr).
std::vector<sandbox::PathGrant> SystemPaths();
// The additional paths for a command with a network: where name servers are configured.
std::vector<sandbox::PathGrant> NetworkPaths();

// All of these paths as programs know them, and the entries of the root directory: the names whose
// symlinks lead to the paths. Names that do not exist here are left out.
std::vector<std::string> SystemNames();

}  // namespace pa::policy
