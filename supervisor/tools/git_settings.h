// Reads the user's git settings, name and email above all, for a git that must not see the home.
//
//    Task<ReadSettings> task = ReadUserSettings(work, reader, call);
//    ReadSettings user = co_await task;
//    if (user) grants = GrantUserFiles(call, *user);
//
// A commit must not be able to read the home, but needs the user's name. So a first git, which is
// confined as well and only reads configuration, prints the few settings below, and the second one
// gets them through GIT_CONFIG_COUNT. Those override the repository's own settings, so settings
// that the repository has are left out: git's order of precedence stays as it is.
#pragma once

#include <sys/types.h>

#include <expected>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/tools/git_reader.h"

namespace pa {

struct GitSetting {
  std::string key;
  std::string value;
  bool operator==(const GitSetting&) const = default;
};

struct UserSettings {
  std::vector<GitSetting> settings;         // the user's, the last of each key
  std::set<std::string> set_by_repository;  // keys left to the repository
  std::string shared_repository;            // core.sharedRepository, whoever set it
  bool wants_signatures = false;            // commit.gpgSign, whoever set it
  // The repository's own, which decide what git executes of the project (git_programs.h).
  std::optional<std::string> hooks_path;  // core.hooksPath
  bool has_hooks = false;                 // hook.NAME.*, of a git that has such
  std::set<std::string> filters;          // each NAME of filter.NAME.*
  // One of them is more than git-lfs as it installs itself: a program of the project, perhaps.
  bool foreign_filters = false;
  bool includes = false;  // the user's files include others
};
// From the output of `git config -z --show-scope --get-regexp`.
UserSettings ParseUserSettings(std::string_view output);

using ReadSettings = std::expected<UserSettings, ToolError>;

// `work` and `git` must outlive the task.
Task<ReadSettings> ReadUserSettings(const Work& work, const GitReader& git, CallContext& call);

// The umask with which git makes directories as core.sharedRepository wants them; nothing if it
// does not ask for another one than `present`. Otherwise git would chmod them afterwards and set
// the set-group-ID bit, which they inherit from the parent directory and which the sandbox refuses.
std::optional<mode_t> UmaskForSharing(std::string_view shared_repository, mode_t present);

// Grants for the user's own lists of ignored files and attributes. Sets in `user` where git looks
// for them.
std::vector<sandbox::PathGrant> GrantUserFiles(const CallContext& call, UserSettings& user);

}  // namespace pa
