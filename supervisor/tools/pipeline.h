// pipeline: calls tools one after the other; later steps use results of earlier ones.
#pragma once

#include "supervisor/call/tool.h"

namespace pa {

extern const Tool kPipeline;

}  // namespace pa
