// Harden: what every worker needs whatever its order is. Done once in the launcher, from which all of
// them inherit it, or by hand for the one. Freestanding.
#pragma once

#include "worker/outcome.h"

namespace pa::worker {

// False: a step failed, and is in `outcome`.
bool Harden(Outcome& outcome);

}  // namespace pa::worker
