// grep: searches the contents of files for a regular expression.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kGrep;

}  // namespace pa
