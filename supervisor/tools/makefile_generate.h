#pragma once

#include "supervisor/tool.h"

namespace pa {

extern const Tool kMakefileGenerate;

}  // namespace pa
