// Repository: where git keeps the data of a working directory, and which paths git must be granted.
//
// `.git` is a directory, or a file in a linked worktree or submodule. Both the file and `commondir`
// are written by the agent, so a repository that they name outside the working directory is
// believed only if it names this working tree back: a linked worktree by
// <commondir>/worktrees/ID/gitdir (gitrepository-layout(5)), a submodule by lying in .git/modules
// of an enclosing working tree with a core.worktree that leads here (gitsubmodules(7)).
//
// An ancestor's repository is used, as git would. It must belong to the effective user. Git sees
// the whole working tree then, or is not run at all: to a hook that stages what has changed (`git
// add -u`), a file that it cannot see is a file that was deleted. So a working tree that reaches
// beyond what the policy lets commands read is refused, and so is one that the configuration puts
// elsewhere (core.worktree). Alternates (objects/info/alternates) are never granted: any path may
// stand there.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "policy/policy.h"
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

// Nothing: no repository here; git itself shall say so. Refused: one is named but must not be used.
std::expected<std::optional<Repository>, DirectoryRefusal> FindRepository(
    const Policy& policy, const WorkingDirectory& directory);

}  // namespace pa::policy
