// ReachesAbove: whether a failed command wanted something of the project that lies above its
// working directory, which it cannot leave, and from where it should be called instead.
//
//    std::string advice = ReachesAbove(*work, run.err.text);     // "" = nothing of that kind
#pragma once

#include <string>
#include <string_view>

#include "supervisor/tools/work.h"

namespace pa {

// `output`: of the command, which decides what it says; what it names is only looked for beneath
// the root.
std::string ReachesAbove(const Work& work, std::string_view output);

}  // namespace pa
