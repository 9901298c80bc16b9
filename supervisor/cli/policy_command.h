// `project-actions policy check | show | schema | explain`.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// 0 when the policy is right, 1 when it is not.
int RunPolicyCheck(const PolicyCheckCommand& command, const Environment& environment);
int RunPolicyShow(const PolicyShowCommand& command, const Environment& environment);
int RunPolicySchema();
int RunPolicyExplain(const PolicyExplainCommand& command, const Environment& environment);

}  // namespace pa
