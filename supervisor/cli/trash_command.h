// `project-actions trash list | restore`: what tools have deleted, and back with it.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// 0, or 1 when there is no policy to go by.
int RunTrashList(const TrashListCommand& command, const Environment& environment);

// 0: it is where it was. 1: it is not, and why.
int RunTrashRestore(const TrashRestoreCommand& command, const Environment& environment);

}  // namespace pa
