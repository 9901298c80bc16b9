// Who the user is, for a git that must not see the home.
//
// A commit must not be able to read the home, but needs the user's name. So a first, equally
// confined git that does nothing but read configuration prints the few settings below, and the
// second gets them as GIT_CONFIG_COUNT. Those are stronger than the repository's own settings, so
// what the repository sets itself is left out: git's order of precedence stays as it is.
#pragma once

#include <sys/types.h>

#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/decide.h"
#include "supervisor/tools/work.h"

namespace pa {

struct GitSetting {
  std::string key;
  std::string value;
  bool operator==(const GitSetting&) const = default;
};

struct UserSettings {
  std::vector<GitSetting> settings;         // the user's, the last of each key
  std::set<std::string> set_by_repository;  // keys that are left to it
  std::string shared_repository;            // core.sharedRepository, whoever set it
  bool includes = false;                    // the user's files name others to read
};
// From the output of `git config -z --show-scope --get-regexp`.
UserSettings ParseUserSettings(std::string_view output);

// How to run the git that reads.
struct GitReader {
  policy::Permission permission;
  std::string executable;
  std::map<std::string, std::string> environment;
  std::vector<sandbox::PathGrant> repository;  // beyond the working directory; read-only
};
using ReadSettings = std::expected<UserSettings, ToolError>;

// `work` and `git` must outlive the task.
Task<ReadSettings> ReadUserSettings(const Work& work, const GitReader& git, CallContext& call);

// The umask with which git makes directories as core.sharedRepository wants them; nothing where it
// does not ask for any other than `present`. Otherwise git would chmod them afterwards and set the
// set-group-ID bit, which they have from the directory above and which the sandbox refuses.
std::optional<mode_t> UmaskForSharing(std::string_view shared_repository, mode_t present);

// The user's own lists of ignored files and attributes: what to grant. Settles in `user` where git
// looks.
std::vector<sandbox::PathGrant> GrantUserFiles(const CallContext& call, UserSettings& user);

}  // namespace pa
