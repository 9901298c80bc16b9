// Caches: one directory per project, in the user's state directory, where make and bash keep
// what compilers and package managers keep between runs. `filesystem.toolchains: auto` grants it,
// by the profiles in policy/profiles (docs/adr/0016).
//
//    policy.caches = CompileCaches(base, values, policy.filesystem, diagnostics);     // at load
//    // policy/grants.cc
//    if (auto grant = CacheGrant(policy.caches, directory, kReadWriteExecute)) ...
//    AddCacheVariables(policy.caches, directory, environment);
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

// Stands for the command's TMPDIR in the values of variables until the command runs; before that
// its TMPDIR is not known.
inline constexpr std::string_view kPrivateTmp = "${PRIVATE_TMPDIR}";

// `base`: the directory that will hold the caches, without symlinks. `values`: the value of each
// ${NAME} in a profile, except PROJECT_CACHE. `granted`: the other paths that the policy grants.
Caches CompileCaches(const std::string& base, const Variables& values,
                     const std::vector<sandbox::PathGrant>& granted,
                     std::vector<Diagnostic>& diagnostics);

// The cache of calls that work in `directory`, absolute; "" if there are no caches, or the path
// would be longer than the system allows. Two directories never share a cache, whatever names an
// agent gives them.
std::string CacheDirectory(const Caches& caches, const std::string& directory);

std::optional<sandbox::PathGrant> CacheGrant(const Caches& caches, const std::string& directory,
                                             sandbox::Access access);

// Adds the variables that lead programs to the cache. Variables that are already in `environment`
// keep their values.
void AddCacheVariables(const Caches& caches, const std::string& directory, Variables& environment);

}  // namespace pa::policy
