// `project-actions trash list | restore`: lists what tools have deleted, and moves it back.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// 0, or 1 if the policy does not load or a part of the trash cannot be read.
int RunTrashList(const TrashListCommand& command, const Environment& environment);

// 0: it is back where it was. 1: it is not; stderr says why.
int RunTrashRestore(const TrashRestoreCommand& command, const Environment& environment);

}  // namespace pa
