// write: writes a whole file, a new one or in place of one whose hash the caller knows.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kWrite;

}  // namespace pa
