// The gitlinks of git's index (gitformat-index(5)): directories that git takes for submodules, whoever
// put them there, and whose own configuration `git status` above them therefore executes.
//
//   GitIndex index = ReadGitIndex(bytes);
//   for (const std::string& path : index.links) ...       // relative to the top of the working tree
//
// Hostile like everything in a repository. What git itself would not read ends the list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pa::policy {

struct GitIndex {
  std::vector<std::string> links;  // never absolute, no `..` in them
  std::string shared;  // the file beside it that holds the rest: `sharedindex.<hash>`, or ""
};

GitIndex ReadGitIndex(std::string_view bytes);

}  // namespace pa::policy
