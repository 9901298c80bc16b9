// `project-actions audit verify`: checks the chain of the audit log.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// 0: no gap. 1: lines were removed, changed or inserted. 2: a file cannot be read, or none is named
// and the policy does not load or keeps the log in no file.
int RunAuditVerify(const AuditVerifyCommand& command, const Environment& environment);

}  // namespace pa
