// `project-actions doctor`: looks at this machine, runs the probe, prints the report.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/cli/doctor.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// Leaves nothing behind. The policy that counts is the built-in default; what is wrong with this
// machine's own policy files is reported too.
DoctorReport Examine(const CommonOptions& options, const Environment& environment);

// 0 only if every protection that the default policy requires is enforced.
int RunDoctor(const DoctorCommand& command, const Environment& environment);

}  // namespace pa
