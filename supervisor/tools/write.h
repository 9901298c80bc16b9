// write: a whole file, new or in place of one that is known.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kWrite;

}  // namespace pa
