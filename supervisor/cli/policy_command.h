// `project-actions policy check | show | schema | explain`.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// 0, or 1 if the policy has errors.
int RunPolicyCheck(const PolicyCheckCommand& command, const Environment& environment);
int RunPolicyShow(const PolicyShowCommand& command, const Environment& environment);
int RunPolicySchema();
int RunPolicyExplain(const PolicyExplainCommand& command, const Environment& environment);

}  // namespace pa
