#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kProjectActions;

}  // namespace pa
