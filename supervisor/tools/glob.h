// glob: finds files by a glob, the newest first.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kGlob;

}  // namespace pa
