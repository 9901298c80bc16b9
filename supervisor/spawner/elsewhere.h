// FindElsewhere: what work in a directory needs of git that lies outside what the policy grants:
// the repository of a linked worktree or of a directory above, and what a configuration includes.
//
// In the spawner's own processes, and by the same searches as in the server (RepositoryFinder,
// ProtectedPathsGuard): so what it finds is what the server would ask for, and never what a server
// that somebody else controls asks for. Files are read by a janitor.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"
#include "supervisor/spawner/bounds.h"

namespace pa {

// Of the directories beneath the policy's roots. Blocks.
Elsewhere FindElsewhere(const policy::PolicyPtr& policy, const std::string& state_home,
                        const std::vector<std::string>& directories);

}  // namespace pa
