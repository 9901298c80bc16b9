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
//    RepositoryTexts texts;
//    const auto repository = FindRepository(directory.path(), VisiblePaths(policy), texts);
//    if (!repository) ...                   // a RepositoryRefusal; perhaps a text is needed
//    if (!*repository) ...                  // there is none
//    needs.extra = (*repository)->grants;   // Needs of policy/decide.h
#pragma once

#include <cstddef>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
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

// What stands in files that an agent can write, as far as it was read. Others read it: a janitor's
// process (supervisor/run/repository_finder.h).
struct RepositoryTexts {
  std::map<std::string, std::optional<std::string>> lines = {};  // by path, as ReadLinkLine
  std::map<std::string, Result<std::string>> work_trees = {};    // the same, as ReadWorkTree
};
struct RepositoryRefusal : DirectoryRefusal {
  // A file that decides and that is not among the texts; "" = none.
  std::string needed_line = {};
  std::string needed_work_tree = {};
};
using RepositoryOr = std::expected<std::optional<Repository>, RepositoryRefusal>;

// Nothing: there is no repository here, and git itself shall say so. Refused: a repository is named
// that must not be used, or another text is needed. It opens no file. `directory`: a working
// directory, resolved. `visible`: the paths that commands may read (VisiblePaths).
RepositoryOr FindRepository(const std::string& directory, std::span<const std::string> visible,
                            const RepositoryTexts& texts);
// The only line of `path`, which must be a regular file and no symlink; nothing when there is none.
Result<std::optional<std::string>> ReadLinkLine(const std::string& path);
// core.worktree as that file of configuration has it, "" if it has none.
Result<std::string> ReadWorkTree(const std::string& file);
std::vector<std::string> VisiblePaths(const Policy& policy);

}  // namespace pa::policy
