// Harden: the steps that every worker needs, whatever its order is. The launcher takes them once,
// and all its workers inherit the result. A worker that is run by hand takes them itself.
// Freestanding.
#pragma once

#include <signal.h>

#include "worker/outcome.h"

namespace pa::worker {

// A guardian takes each of these signals as "cancel".
inline constexpr int kCancelSignals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

// kCapabilities: the capabilities stay for now, because making namespaces needs them;
// DropCapabilities follows later.
enum class Keep { kNothing, kCapabilities };
// False: a step failed; it is in `outcome`. Every signal gets its default action and is blocked,
// except those that mean "cancel". These are ignored, because there is nothing yet that could be
// cancelled, and a signal that stayed pending would cancel an order that comes later.
bool Harden(Outcome& outcome, Keep keep = Keep::kNothing);

// Leaves root only the capabilities that concern the ownership of files: guardian and command need
// no others. This is a part of Harden, unless that is told to keep the capabilities.
SysResult<void> DropCapabilities();

// From now on the cancel signals are blocked like the others, and stay pending until they are read.
SysResult<void> TakeCancelSignals();

}  // namespace pa::worker
