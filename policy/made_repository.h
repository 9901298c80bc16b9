// MadeRepository: what in a git repository that a command has made does not belong there, because the user's git would
// execute it or look elsewhere for what to execute. By an allow-list of what git and the tools that clone
// write themselves; what cannot be read as they write it does not belong there either.
//
//   for (const Foreign& foreign : FindForeign("/home/ann/src/build/_deps/fmt-src/.git")) ...
//
// To allow another variable: its line in kAllowed, where git does with it nothing but data.
#pragma once

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

// Of a git directory and those within it (modules, worktrees). A repository without any is as git made it.
std::vector<Foreign> FindForeign(const std::string& git_directory);
// Of `made`, and of what it leads to. `within`: where the command could write, and it must not lead out of there.
// `kept`: git directories that are looked after in another way; what lies in them is not judged.
std::vector<Foreign> FindForeign(const RepositoryBelow& made, const std::string& within,
                                 std::span<const std::string> kept);

// Whether a variable with this value may stand in the configuration of a repository that a command made. `name` as in
// policy/git_config.h.
bool IsAllowedVariable(std::string_view name, std::string_view value);

}  // namespace pa::policy
