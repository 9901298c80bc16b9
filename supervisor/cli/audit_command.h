// `project-actions audit verify | show`: checks the chain of the audit log, and shows its calls.
#pragma once

#include <string>
#include <vector>

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// The files that were named, else the one of the policy in force; none: standard error says why.
std::vector<std::string> AuditPathsOf(const AuditFiles& named, const Environment& environment);

// 0: no gap. 1: lines were removed, changed or inserted. 2: a file cannot be read, or none is named
// and the policy does not load or keeps the log in no file.
int RunAuditVerify(const AuditVerifyCommand& command, const Environment& environment);

// 0: all lines were read. 1: some are damaged, and were reported. 2: as above, or what is shown
// cannot be written. With `follow` only an error, or the end of who reads the output, ends it.
int RunAuditShow(const AuditShowCommand& command, const Environment& environment);

}  // namespace pa
