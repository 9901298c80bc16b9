// Runs git for git_add and git_commit: without prompts, pager and access to the home, but with the
// user's identity and lists of ignored files (git_settings.h).
//
// If the project has neither a hook for the command nor a filter, git runs alone: nothing of the
// project is executed (Purpose::kGitAlone). If it has, git runs on a copy of the repository, of
// which the result is taken over (git_copy.h). Where there can be no copy, the command itself
// changes the repository, and the guard watches over it (Purpose::kGit).
//
//    Task<PreparedGit> task = PrepareGit(work, *permission, call);
//    PreparedGit git = co_await task;
//    Task<ToolResult> run = RunGit(work, std::move(*git), command, call);
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
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
  bool wants_signatures = false;  // commit.gpgSign is set, which kOwnSettings overrides
  // What the repository's configuration says of programs, as UserSettings has it.
  std::optional<std::string> hooks_path = {};
  bool has_hooks = false;
  std::set<std::string> filters = {};
  bool foreign_filters = false;
  // What it may execute besides git when it runs alone: git-lfs, if that is its filter.
  std::vector<sandbox::PathGrant> programs = {};
};
// For Purpose::kGitAlone: without hooks, and with the right to change the repository.
void MakeAlone(Git& git);
using PreparedGit = std::expected<Git, ToolError>;

// The same without the user's settings, for a git that needs none.
Task<PreparedGit> StartGit(const Work& work, policy::Permission permission, CallContext& call);
GitReader ReaderOf(const Work& work, const Git& git, const CallContext& call);
// Of a git with these settings and without the user's configuration.
std::map<std::string, std::string> GitEnvironment(const Work& work, const Git& git,
                                                  const CallContext& call);

// Reads the user's settings, also for a dry run, because the files that they name are part of the
// confinement. `work` must outlive the task.
Task<PreparedGit> PrepareGit(const Work& work, policy::Permission permission, CallContext& call);

struct GitCommand {
  std::string what;               // `git add`
  std::vector<std::string> argv;  // from "git" on
  std::optional<std::string> stdin_data = std::nullopt;
  // The hooks that this command executes if they are there (githooks(5)).
  std::span<const std::string_view> hooks = {};
  bool commits = false;  // it is `git commit`, not `git add`
  // Adds to the result of a success what was done: TellStaged or TellCommit (git_report.h).
  Task<ToolResult> (*tell)(const Work& work, const GitReader& git, ToolResult result,
                           CallContext& call);
};
Task<ToolResult> RunGit(const Work& work, Git git, GitCommand command, CallContext& call);

}  // namespace pa
