// The server's own directories in the state directory: journals of edits, the trash, the
// quarantine.
//
//    const Result<std::string> directory = FindStateDirectory(policy, state_home, "trash");
//    if (directory && MakeStateDirectory(*directory)) ...
//
// A directory is used only if no command can write there. Otherwise an agent could exchange a name
// on the way, and the server would make or remove somebody's files.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "policy/policy.h"

namespace pa {

// The locks of repositories (supervisor/run/repository_lock.h) and the records of those that
// commands made (supervisor/guard/nested_repositories.h).
inline constexpr std::string_view kRepositoriesDirectory = "repositories";
inline constexpr std::string_view kEditsDirectory = "edits";           // journals
inline constexpr std::string_view kTrashDirectory = "trash";           // what was deleted
inline constexpr std::string_view kQuarantineDirectory = "displaced";  // of protected paths
inline constexpr std::string_view kCopiesDirectory = "copies";         // of repositories, for hooks
// All that a server writes there. The tokens are not among them.
inline constexpr std::string_view kServersDirectories[] = {kRepositoriesDirectory, kEditsDirectory,
                                                           kTrashDirectory, kQuarantineDirectory,
                                                           kCopiesDirectory};

// STATE_HOME/project-actions, resolved; "": there is none.
std::string StateOf(const std::string& state_home);
// STATE_HOME/project-actions/NAME.
std::string PathInState(const std::string& state_home, std::string_view name);
// The same path, resolved, whether it exists or not; `name`: one of kServersDirectories, or EINVAL.
// ENOENT: there is no state directory. EPERM: commands can write there.
Result<std::string> FindStateDirectory(const policy::Policy& policy, const std::string& state_home,
                                       std::string_view name);

// Makes the directory and its parents, with mode 0700.
Result<void> MakeStateDirectory(const std::string& path);

}  // namespace pa
