// read: returns lines of a text file, or an image, with the file's hash.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kRead;

}  // namespace pa
