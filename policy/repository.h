// FindRepository: where git keeps the data of a working directory, and which paths git must be
// granted.
//
// `.git` is a directory or, in a linked worktree or a submodule, a file. The agent can write both
// this file and `commondir`. So a repository that they name outside the working directory is
// believed only if it names this working tree in turn: a linked worktree by
// <commondir>/worktrees/ID/gitdir (gitrepository-layout(5)), a submodule by lying in .git/modules
// of an enclosing working tree and by a core.worktree that leads here (gitsubmodules(7)).
//
// The repository of an ancestor is used, as git would do. It must belong to the effective user. git
// sees the whole working tree, or is not run at all: for a hook that stages changes (`git add -u`),
// a file that it cannot see is a deleted file. So a working tree is refused if it reaches beyond
// what the policy lets commands read, or if the configuration puts it elsewhere (core.worktree).
// Alternates (objects/info/alternates) are never granted: they may name any path.
//
//    const auto repository = FindRepository(policy, directory);
//    if (!repository) ...                   // a DirectoryRefusal
//    if (!*repository) ...                  // there is none
//    needs.extra = (*repository)->grants;   // Needs of policy/decide.h
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "policy/working_directory.h"
#include "sandbox/confinement.h"

namespace pa::policy {

inline constexpr std::size_t kMaxLinkFile = 8192;  // `.git`, commondir: a path and a word, in bytes

struct Repository {
  std::string top_level;   // of the working tree; the working directory or an ancestor
  std::string git_dir;     // resolved
  std::string common_dir;  // == git_dir except in linked worktrees; the repository is locked by it
  // The grants beyond the working directory. Directories of hooks may be executed; with `hooks:
  // skip` the caller removes that right.
  std::vector<sandbox::PathGrant> grants;
};

// Nothing: there is no repository here, and git itself shall say so. Refused: a repository is named
// that must not be used.
std::expected<std::optional<Repository>, DirectoryRefusal> FindRepository(
    const Policy& policy, const WorkingDirectory& directory);

}  // namespace pa::policy
