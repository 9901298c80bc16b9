// `project-actions audit verify`: is the audit log what was written?
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// 0: no gap. 1: lines were removed, changed or put in between. 2: it cannot be read, or the policy
// keeps none.
int RunAuditVerify(const AuditVerifyCommand& command, const Environment& environment);

}  // namespace pa
