// bash: runs a shell command in the sandbox, with the rights of a build.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kBash;

}  // namespace pa
