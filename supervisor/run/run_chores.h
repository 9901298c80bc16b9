// RunChores: what the janitor does for commands and their repositories, beside the guard's chores.
#pragma once

#include <vector>

#include "supervisor/janitor/janitor.h"

namespace pa {

// With those of the rooms below.
std::vector<Chore> RunChores();

}  // namespace pa
