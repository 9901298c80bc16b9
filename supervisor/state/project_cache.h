// MakeProjectCache: makes the directory in which a project's toolchains keep their caches
// (policy/caches.h), when the first build of the project runs.
//
//    if (Result<void> made = MakeProjectCache(policy.caches, directory); !made) Warn(...);
//
// The directory is the user's alone, mode 0700, and no symlink leads to it: otherwise commands
// could write the target of that symlink.
#pragma once

#include <string>

#include "base/error.h"
#include "policy/policy.h"

namespace pa {

// Does nothing if the policy wants no caches. An existing directory is used if it is ours. Its mode
// is restored, because a command can change it: Landlock does not restrict chmod.
Result<void> MakeProjectCache(const policy::Caches& caches, const std::string& directory);

}  // namespace pa
