// Caches: a directory for each project in which commands of make keep what compilers and package
// managers keep between runs, in the user's state directory. `filesystem.toolchains: auto` gives
// it, by the profiles in policy/profiles (docs/adr/0016).
//
//   policy.caches = CompileCaches(base, values, policy.filesystem, diagnostics);     // at load
//   // policy/grants.cc
//   if (auto grant = CacheGrant(policy.caches, directory, kReadWriteExecute)) ...
//   AddCacheVariables(policy.caches, directory, environment);
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/diagnostic.h"
#include "policy/policy.h"
#include "policy/profile.h"
#include "sandbox/confinement.h"

namespace pa::policy {

// Stands in variables for the command's TMPDIR until that is known, which is when it runs.
inline constexpr std::string_view kPrivateTmp = "${PRIVATE_TMPDIR}";

// `base`: where they are to lie, without symlinks. `values`: what ${NAME} in a profile means, but
// for PROJECT_CACHE. `granted`: what the policy opens besides.
Caches CompileCaches(const std::string& base, const Variables& values,
                     const std::vector<sandbox::PathGrant>& granted,
                     std::vector<Diagnostic>& diagnostics);

// The cache of calls that work in `directory`, absolute; "" if there are no caches, or its path
// would be longer than the system takes. Two directories never have the same one, whatever an agent
// calls them.
std::string CacheDirectory(const Caches& caches, const std::string& directory);

std::optional<sandbox::PathGrant> CacheGrant(const Caches& caches, const std::string& directory,
                                             sandbox::Access access);

// The variables that lead there. Those that are in `environment` stay what they are.
void AddCacheVariables(const Caches& caches, const std::string& directory, Variables& environment);

}  // namespace pa::policy
