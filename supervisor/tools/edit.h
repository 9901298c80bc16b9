// edit: passages of files become others, in all the files or in none.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kEdit;

}  // namespace pa
