// RepositoryCopy: what is small of a git repository, held while a command runs, for when the
// command has left none: `rm -rf .git` (docs/adr/0037).
//
//   // of **copy, if there is one
//   auto copy = CopyRepository("/srv/project/.git", "/srv/project", budget);
//   ... the command runs ...
//   const Result<bool> intact = IsIntact(**copy);
//   if (intact && !*intact) change = RestoreRepository(**copy, hooks_configuration_and_index,
//       quarantine);
//
// HEAD and references; never objects, of which only the number is known. Whatever leaves a
// repository is the command's own affair: commits, gc, branches that it deletes. An error: it could
// not be seen, and nobody knows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/guard/restorer.h"

namespace pa {

struct RepositoryCopy {
  std::string path;                        // the git directory
  std::vector<GuardedPath> pieces;         // itself first
  std::string left_out;                    // what is not held because it is too much, or ""
  std::uint64_t objects = 0;               // packed and loose; one that is both counts twice
  std::array<PathStamp, 2> object_stamps;  // of `objects` and of the packs
  // Some of what references name and is there, HEAD's first.
  struct Tip {
    std::string object;  // in hex
    PathStamp loose;  // of its file: it can be removed or emptied without a trace in the two above
  };
  std::vector<Tip> tips;
};

// Nothing: it is no repository with objects of its own.
Result<std::optional<RepositoryCopy>> CopyRepository(const std::string& path,
                                                     const std::string& area, ImageBudget& budget);
// As far as lstat(2) tells, it is what it was.
bool IsCurrent(const RepositoryCopy& copy);
// How many files IsCurrent looks at.
std::size_t CostOf(const RepositoryCopy& copy);
// Whether git would still call it a repository, with references if there were any, and with the
// commits that these name.
Result<bool> IsIntact(const RepositoryCopy& copy);
// Makes again what is not there; `kept` is what else is held of it: hooks, configuration, indexes.
// The one change says what is gone.
ProtectedChange RestoreRepository(const RepositoryCopy& copy, const std::vector<GuardedPath>& kept,
                                  const std::string& quarantine);

}  // namespace pa
