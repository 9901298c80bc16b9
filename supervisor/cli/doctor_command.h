// `project-actions doctor`: examines this machine, runs the probe and prints the report.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/cli/doctor.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// Leaves nothing behind. Protections are examined under the built-in default policy; errors in this
// machine's own policy files are reported, too.
DoctorReport Examine(const CommonOptions& options, const Environment& environment);

// 0 only if every protection that the default policy requires is enforced and the policy in use
// loads.
int RunDoctor(const DoctorCommand& command, const Environment& environment);

}  // namespace pa
