// Harden: what every worker needs whatever its order is. Done once in the launcher, from which all
// of them inherit it, or by hand for the one. Freestanding.
#pragma once

#include <signal.h>

#include "worker/outcome.h"

namespace pa::worker {

// Each means "cancel" to a guardian.
inline constexpr int kCancelSignals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

// False: a step failed, and is in `outcome`. Signals are default and blocked, but those that mean
// "cancel": they are ignored, because nothing is there yet that could be cancelled, and one that
// was kept would cancel an order that came later.
enum class Keep { kNothing, kCapabilities };
bool Harden(Outcome& outcome, Keep keep = Keep::kNothing);

// Guardian and command alike need nothing of root but the ownership of files. Part of Harden where
// no namespaces have to be made, which needs the others.
SysResult<void> DropCapabilities();

// From now on the cancel signals are blocked, too, and wait to be read.
SysResult<void> TakeCancelSignals();

}  // namespace pa::worker
