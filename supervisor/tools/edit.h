// edit: replaces passages of files, in all of the files or in none.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kEdit;

}  // namespace pa
