// The user's git identity for commands of make and bash: a git configuration that holds name and
// email alone, made from the user's own, which is closed to commands.
//
//    const GitIdentity identity = ReadGitIdentity(policy);
//    plan.tmp_files = identity.files;       // kIdentityFile, and those that it includes
//
// git reads it in place of the user's (GIT_CONFIG_GLOBAL), so the settings of a repository count
// for more, as always. Conditional includes stay conditional: git itself decides about them, in the
// repository where the commit is made.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "policy/policy.h"

namespace pa {

inline constexpr std::string_view kIdentityFile = ".pa-gitconfig";

struct GitIdentity {
  std::map<std::string, std::string> files = {};  // content by name; none: there is no identity
  std::string warning = {};                       // "", or what of the configuration is missing
};

// With `git.identity: none` it reads nothing.
GitIdentity ReadGitIdentity(const policy::Policy& policy);

}  // namespace pa
