// make_targets: lists the .PHONY targets of a Makefile.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kMakeTargets;

}  // namespace pa
