// Aliases: symlinked names of directories, by which clients know them: the home as $HOME has it,
// the current directory as $PWD has it, a root as the command line has it. A path from a client is
// compared with these alone: following any path that it names would tell it what exists outside.
//
//    std::string path = ByAlias(policy.aliases, "/home/ann/src/a");      // "/data/ann/src/a"
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"

namespace pa::policy {

// The aliases among `names`: those that differ from what they resolve to. A name that is relative
// or contains `.` or `..` is passed over.
std::vector<Alias> FindAliases(const std::vector<std::string>& names);

// `path`, absolute, with doubled slashes removed and an alias at its beginning replaced by what
// that resolves to. The longest alias counts.
std::string ByAlias(const std::vector<Alias>& aliases, const std::string& path);

}  // namespace pa::policy
