// Aliases: other names of directories, by symlinks, that clients know them by: the home as $HOME
// has it, the current directory as $PWD has it, a root as the command line has it. What a client
// sends is held against these alone: to follow any path that it names would tell it what there is
// outside.
//
//   std::string path = ByAlias(policy.aliases, "/home/ann/src/a");      // "/data/ann/src/a"
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"

namespace pa::policy {

// Those of `names`, absolute and without `..`, that are not what they resolve to.
std::vector<Alias> FindAliases(const std::vector<std::string>& names);

// `path`, absolute, with slashes that stand twice taken for one, and what it begins with replaced
// if that is the name of an alias; the longest one counts.
std::string ByAlias(const std::vector<Alias>& aliases, const std::string& path);

}  // namespace pa::policy
