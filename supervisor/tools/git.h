// What git_add and git_commit share: a git that asks nobody, pages nothing, reads none of the
// user's files, and still knows who the user is.
//
//   Task<PreparedGit> task = PrepareGit(work, call);
//   PreparedGit git = co_await task;
//   Task<ToolResult> run = RunGit(work, std::move(*git), command, call);
//
// Identity. A commit must not be able to read the home, but needs the user's name. So a first,
// equally confined git that touches nothing of the project but its configuration prints the few
// settings below, and the second gets them as GIT_CONFIG_COUNT. Those are stronger than the
// repository's own settings, so what the repository sets itself is left out: git's order of
// precedence stays as it is.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/repository.h"
#include "supervisor/tools/work.h"

namespace pa {

struct GitSetting {
  std::string key;
  std::string value;
  bool operator==(const GitSetting&) const = default;
};

struct Git {
  std::string executable;
  std::optional<policy::Repository> repository;
  std::vector<sandbox::PathGrant> grants;
  std::vector<GitSetting> settings;
};
using PreparedGit = std::expected<Git, ToolError>;

// Decides first; reads the identity unless this is a dry run. `work` must outlive the task.
Task<PreparedGit> PrepareGit(const Work& work, CallContext& call);

struct GitCommand {
  std::string what;               // `git add`
  std::vector<std::string> argv;  // from "git" on
  std::optional<std::string> stdin_data = std::nullopt;
};
Task<ToolResult> RunGit(const Work& work, Git git, GitCommand command, CallContext& call);

struct UserSettings {
  std::vector<GitSetting> settings;         // the user's, the last of each key
  std::set<std::string> set_by_repository;  // keys that are left to it
};
// From the output of `git config -z --show-scope --get-regexp`.
UserSettings ParseUserSettings(std::string_view output);

// Complete environment of a git command, but for TMPDIR.
std::map<std::string, std::string> GitEnvironment(const Work& work, const Git& git,
                                                  const CallContext& call);

}  // namespace pa
