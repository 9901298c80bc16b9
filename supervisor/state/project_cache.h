// The directory that a project's toolchains keep their caches in (policy/caches.h), made when its
// first build runs.
//
//   if (Result<void> made = MakeProjectCache(policy.caches, directory); !made) Warn(...);
//
// It is the user's alone, mode 0700, and no symlink leads to it: what it would lead to, commands
// could write.
#pragma once

#include <string>

#include "base/error.h"
#include "policy/policy.h"

namespace pa {

// Nothing to do where the policy wants no caches. A directory that was there is as good as a new
// one, if it is ours; its mode is mended, because a command can change it (chmod is beyond
// Landlock).
Result<void> MakeProjectCache(const policy::Caches& caches, const std::string& directory);

}  // namespace pa
