// FindForeign: finds in a git repository that a command has made everything that does not belong
// there, because the user's git would execute it or would look elsewhere for what to execute. It
// uses an allow-list of what git and the tools that clone write themselves. A file that cannot be
// read, or is not written as they write it, does not belong there either.
//
//    for (const Foreign& foreign : FindForeign("/home/ann/src/build/_deps/fmt-src/.git")) ...
//
// To allow another variable: its line in kAllowed, if git uses its value as data and nothing else.
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
  std::optional<std::string> instead{};  // the content to replace it by; nothing: remove it
};

// Judges a git directory and those within it (modules, worktrees). The result is empty for a
// repository as git makes it, and is the git directory itself if there is too much to judge.
std::vector<Foreign> FindForeign(const std::string& git_directory);

// A git directory that is protected in another way, and is not judged.
struct KeptDirectory {
  std::string path;
  bool whole = false;  // with everything in it; otherwise another git directory in it is judged
};
struct JudgedWithin {
  std::string directory;  // where the command could write; nothing may lead out of it
  std::span<const KeptDirectory> kept = {};
  // Not 0 if the repositories that existed before the command are not all known. A git directory
  // that is older than this is then the user's, unless it lies in one of `made`. Nanoseconds, as
  // RepositoryBelow::born_ns.
  std::int64_t since_ns = 0;
  std::span<const RepositoryBelow> made = {};
};
// Judges `made` and the git directory that it leads to.
std::vector<Foreign> FindForeign(const RepositoryBelow& made, const JudgedWithin& within);

// Whether a variable with this value may stand in the configuration of a repository that a command
// made. `name` as in policy/git_config.h.
bool IsAllowedVariable(std::string_view name, std::string_view value);

}  // namespace pa::policy
