#pragma once

#include "supervisor/tool.h"

namespace pa {

extern const Tool kGrep;

}  // namespace pa
