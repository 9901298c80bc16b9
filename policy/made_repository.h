// MadeRepository: what in a git repository that a command has made does not belong there, because
// the user's git would execute it or look elsewhere for what to execute. By an allow-list of what
// git and the tools that clone write themselves; what cannot be read as they write it does not
// belong there either.
//
//   for (const Foreign& foreign : FindForeign("/home/ann/src/build/_deps/fmt-src/.git")) ...
//
// To allow another variable: its line in kAllowed, where git does with it nothing but data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/repositories_below.h"

namespace pa::policy {

struct Foreign {
  std::string path;                      // absolute
  std::string what;                      // `core.fsmonitor`, `a hook`, `it cannot be read`
  std::optional<std::string> instead{};  // the content that takes its place; nothing: it goes
};

// Of a git directory and those within it (modules, worktrees). A repository without any is as git
// made it. Where there is too much, the git directory itself.
std::vector<Foreign> FindForeign(const std::string& git_directory);

// A git directory that is looked after in another way, and not judged.
struct KeptDirectory {
  std::string path;
  bool whole = false;  // with all that is in it; else another one in it is judged
};
struct JudgedWithin {
  std::string directory;  // where the command could write; nothing must lead out of there
  std::span<const KeptDirectory> kept = {};
  // Where the command's own doing is not all that is new: what is older than this is the user's,
  // unless it lies in one of `made`. Nanoseconds, as RepositoryBelow::born_ns; 0 = it is.
  std::int64_t since_ns = 0;
  std::span<const RepositoryBelow> made = {};
};
// Of `made`, and of what it leads to.
std::vector<Foreign> FindForeign(const RepositoryBelow& made, const JudgedWithin& within);

// Whether a variable with this value may stand in the configuration of a repository that a command
// made. `name` as in policy/git_config.h.
bool IsAllowedVariable(std::string_view name, std::string_view value);

}  // namespace pa::policy
