// delete: moves a file or a directory to the trash.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kDelete;

}  // namespace pa
