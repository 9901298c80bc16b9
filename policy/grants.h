// GrantsFor: the paths that a command may touch, by its purpose.
//
//    std::vector<PathGrant> paths = GrantsFor(policy, Purpose::kBuild, "/home/ann/src/project");
//
// Decide and `policy explain` both use it, so that what is explained is what is enforced.
#pragma once

#include <string>
#include <vector>

#include "policy/decide.h"
#include "policy/policy.h"

namespace pa::policy {

std::vector<sandbox::PathGrant> GrantsFor(const Policy& policy, Purpose purpose,
                                          const std::string& directory);

// The files of the user's own configuration of git, to be read; not git-credential-store's.
std::vector<sandbox::PathGrant> GitConfigurationGrants(const std::string& home,
                                                       const std::string& config_home);

// `grants`, without the right to execute if the purpose gives that right to git alone.
std::vector<sandbox::PathGrant> ForPurpose(Purpose purpose, std::vector<sandbox::PathGrant> grants);

// The network that commands of this purpose have.
sandbox::Network NetworkFor(const Policy& policy, Purpose purpose);

// Whether `grants` contain the directory of the audit log. Commands with namespaces then see an
// empty directory in its place.
bool ReachLog(const std::vector<sandbox::PathGrant>& grants, const Policy& policy);

// The programs that git has to execute to add and commit, and nothing that a repository could name
// instead: git itself, found on `path` (PATH), its own directory of programs, and the loader. A git
// that commands of `policy` can write is passed over: it could be anything.
std::vector<sandbox::PathGrant> FindGitPrograms(const std::string& path, const Policy& policy);

}  // namespace pa::policy
