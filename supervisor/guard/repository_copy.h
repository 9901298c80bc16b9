// RepositoryCopy: holds the small files of a git repository while a command runs, to restore them
// if the command destroys the repository: `rm -rf .git` (docs/adr/0037).
//
//    Result<std::optional<RepositoryCopy>> copy =
//        CopyRepository("/srv/project/.git", "/srv/project", budget);
//    ... the command runs ...
//    const Result<bool> intact = IsIntact(**copy);     // if there is one
//    // kept: hooks, configuration and index
//    if (intact && !*intact) change = RestoreRepository(**copy, kept, quarantine);
//
// It holds HEAD and references, but no objects: only their number is known. A command may do
// anything that leaves a repository: commit, gc, delete branches. A repository is judged as git
// judges it when it opens one (is_git_directory, open_packed_git_1): content of packs and loose
// objects is not verified. An error: the repository could not be examined, so nothing is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/guard/restorer.h"

namespace pa {

struct RepositoryCopy {
  std::string path;                 // the git directory
  std::vector<GuardedPath> pieces;  // the directory itself first
  std::string left_out;             // what is not held because it is too large, or ""
  std::uint64_t objects = 0;        // packed and loose; one that is both counts twice
  struct Stamp {
    std::string path;
    PathStamp stamp;
    bool operator==(const Stamp&) const = default;
  };
  // Of the directories objects and objects/pack, and of each pack and its index.
  std::vector<Stamp> object_stamps;
  std::vector<std::string> broken_packs;  // paths of packs that have an index and do not fit it
  // Some of the objects that references name and that exist, HEAD's first.
  struct Tip {
    std::string object;  // in hex
    // Of its loose file, which can be removed or emptied without a change of object_stamps.
    PathStamp loose;
    bool operator==(const Tip&) const = default;
  };
  std::vector<Tip> tips;
};

// Nothing: it is not a repository with objects of its own.
Result<std::optional<RepositoryCopy>> CopyRepository(const std::string& path,
                                                     const std::string& area, ImageBudget& budget);
// Whether it is unchanged, as far as lstat(2) shows.
bool IsCurrent(const RepositoryCopy& copy);
// How many files IsCurrent looks at.
std::size_t CostOf(const RepositoryCopy& copy);
// Whether git would still take it for a repository, with references if there were any, and with the
// commits that these name.
Result<bool> IsIntact(const RepositoryCopy& copy);
// Restores what is missing. `kept`: the other files of the repository that are held: hooks,
// configuration, indexes. The returned change says what is lost.
ProtectedChange RestoreRepository(const RepositoryCopy& copy, const std::vector<GuardedPath>& kept,
                                  const std::string& quarantine);

}  // namespace pa
