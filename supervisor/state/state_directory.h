// Directories of ours in the user's state directory: the journals of edits, the trash.
//
//   const Result<std::string> directory = FindStateDirectory(policy, state_home, "trash");
//   if (directory && MakeStateDirectory(*directory)) ...
//
// Only where no command can write: else a name that an agent exchanges would have the server, which
// no sandbox holds, make or remove somebody's files.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "policy/policy.h"

namespace pa {

// STATE_HOME/project-actions/NAME.
std::string PathInState(const std::string& state_home, std::string_view name);
// The same, resolved, there or not. ENOENT without a state directory, EPERM where
// commands can write.
Result<std::string> FindStateDirectory(const policy::Policy& policy, const std::string& state_home,
                                       std::string_view name);

// For the user alone.
Result<void> MakeStateDirectory(const std::string& path);

}  // namespace pa
