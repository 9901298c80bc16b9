// The order of a worker: from a plan and its permission, and nothing less (docs/architecture.md,
// "Types that carry trust").
//
//   worker::WorkerSpec spec = MakeSpec(plan, allow, &slot, sealed);
//   SpawnOrder order = MakeOrder(plan, allow, slot);  // what it is started with, beside that
#pragma once

#include <vector>

#include "policy/decide.h"
#include "supervisor/run/command_plan.h"
#include "supervisor/run/execution.h"
#include "supervisor/run/slot_pool.h"
#include "supervisor/run/spawn_worker.h"
#include "worker/spec.h"

namespace pa {

// The one place where one is made. `slot` null: for people to read, and to run by hand. `sealed`:
// mounts of this command.
worker::WorkerSpec MakeSpec(const CommandPlan& plan, const policy::Allow& allow, const Slot* slot,
                            const std::vector<sandbox::Mount>& sealed = {});

// Without its spec. Borrows from all three.
SpawnOrder MakeOrder(const CommandPlan& plan, const policy::Allow& allow, const Slot& slot);

}  // namespace pa
