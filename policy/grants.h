// GrantsFor: which paths a command may touch, by what it is for.
//
//   std::vector<PathGrant> paths = GrantsFor(policy, Purpose::kBuild, "/home/ann/src/project");
//
// One function for Decide and for `policy explain`, so that what is explained is what is enforced.
#pragma once

#include <string>
#include <vector>

#include "policy/decide.h"
#include "policy/policy.h"

namespace pa::policy {

std::vector<sandbox::PathGrant> GrantsFor(const Policy& policy, Purpose purpose,
                                          const std::string& directory);

// `grants` without the right to execute where the purpose gives it to git alone.
std::vector<sandbox::PathGrant> ForPurpose(const Policy& policy, Purpose purpose,
                                           std::vector<sandbox::PathGrant> grants);

// The network that commands of this purpose have.
sandbox::Network NetworkFor(const Policy& policy, Purpose purpose);

// Whether these hold the directory of the audit log. Where commands have namespaces, they find an
// empty one in its place then.
bool ReachLog(const std::vector<sandbox::PathGrant>& grants, const Policy& policy);

// What git needs to execute to add and commit, and nothing that a repository could name instead:
// git found on `path` (PATH), its own directory of programs, and the loader. A git that commands
// of `policy` can write is passed over: it could be anything.
std::vector<sandbox::PathGrant> FindGitPrograms(const std::string& path, const Policy& policy);

}  // namespace pa::policy
