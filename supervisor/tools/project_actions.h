// project_actions: make, git_add, git_commit and makefile_generate as operations of one tool.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kProjectActions;

}  // namespace pa
