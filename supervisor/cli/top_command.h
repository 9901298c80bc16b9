// `project-actions top`: shows servers that run, again and again: root all tenants of the machine,
// anybody those whose addresses they name.
#pragma once

#include "supervisor/cli/command_line.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// Until `q`, Ctrl-C or the end of the terminal; once, if standard output is none. Returns 0, or 1
// with a message if it cannot know what to show, or nobody answers.
int RunTop(const TopCommand& command, const Environment& environment);

}  // namespace pa
