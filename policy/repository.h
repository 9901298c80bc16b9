// Repository: where git keeps the data of a working directory, and which paths git must be granted.
//
// `.git` is a directory, or a file in a linked worktree or submodule. Both the file and `commondir`
// are written by the agent, so a repository that they name outside the working directory is
// believed only if it names this working tree back: a linked worktree by
// <commondir>/worktrees/ID/gitdir (gitrepository-layout(5)), a submodule by lying in .git/modules
// of an enclosing working tree with a core.worktree that leads here (gitsubmodules(7)).
//
// An ancestor's repository is used, as git would, also when that ancestor lies outside the roots (a
// server started in a subdirectory): what lies there no agent can have written. It must belong to
// the effective user, and the ancestor's own files stay closed but for .gitignore and
// .gitattributes, without which git would add other content. Alternates (objects/info/alternates)
// are never granted: any path may stand there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "policy/working_directory.h"
#include "sandbox/confinement.h"

namespace pa::policy {

struct Repository {
  std::string top_level;   // of the working tree; the working directory or an ancestor
  std::string git_dir;     // resolved
  std::string common_dir;  // == git_dir but in linked worktrees; the lock of the repository
  // Beyond the working directory. Directories of hooks may be executed; with `hooks: skip` the
  // caller takes that away.
  std::vector<sandbox::PathGrant> grants;
};

// Nothing: no repository here; git itself shall say so. An error: one is named but must not be
// used.
Result<std::optional<Repository>> FindRepository(const WorkingDirectory& directory);

}  // namespace pa::policy
