// What git_add and git_commit share: a git that asks nobody, pages nothing, reads none of the
// user's files, and still knows who the user is.
//
//   Task<PreparedGit> task = PrepareGit(work, *permission, call);
//   PreparedGit git = co_await task;
//   Task<ToolResult> run = RunGit(work, std::move(*git), command, call);
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "policy/repository.h"
#include "supervisor/tools/git_settings.h"
#include "supervisor/tools/work.h"

namespace pa {

struct Git {
  policy::Permission permission;
  std::string executable;
  std::optional<policy::Repository> repository;
  std::vector<sandbox::PathGrant> grants;
  std::vector<GitSetting> settings;
  std::optional<mode_t> umask;
};
using PreparedGit = std::expected<Git, ToolError>;

// Reads the identity, for a dry run as well: the files that the user's settings name are part of
// the confinement. `work` must outlive the task.
Task<PreparedGit> PrepareGit(const Work& work, policy::Permission permission, CallContext& call);

struct GitCommand {
  std::string what;               // `git add`
  std::vector<std::string> argv;  // from "git" on
  std::optional<std::string> stdin_data = std::nullopt;
};
Task<ToolResult> RunGit(const Work& work, Git git, GitCommand command, CallContext& call);

}  // namespace pa
