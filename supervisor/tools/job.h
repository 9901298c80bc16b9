// job: lists, reads, awaits and ends the calls that run in the background.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kJob;

}  // namespace pa
