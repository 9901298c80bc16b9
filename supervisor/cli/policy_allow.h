// `project-actions policy allow LINE | LAST`: writes the line that a denial suggested into the
// user's policy file (policy/add_line.h), once the user has seen and confirmed it.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// 0: the file has the line. 1: it has not; standard error says why.
int RunPolicyAllow(const PolicyAllowCommand& command, const Environment& environment);

}  // namespace pa
