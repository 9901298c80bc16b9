// batch: calls one tool several times.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kBatch;

}  // namespace pa
