// MakeSpec, MakeOrder: make the order of a worker from a plan and its policy::Allow, and from
// nothing less (docs/architecture.md, "Types that carry trust").
//
//    worker::WorkerSpec spec = MakeSpec(plan, allow, &slot, sealed);
//    SpawnOrder order = MakeOrder(plan, allow, slot);   // how to start the worker
#pragma once

#include <vector>

#include "policy/decide.h"
#include "supervisor/run/command_plan.h"
#include "supervisor/run/execution.h"
#include "supervisor/run/slot_pool.h"
#include "supervisor/run/spawn_worker.h"
#include "worker/spec.h"

namespace pa {

// The only function that makes a WorkerSpec. `slot` null: the spec is for people to read and to run
// by hand. `sealed`: mounts for this command.
worker::WorkerSpec MakeSpec(const CommandPlan& plan, const policy::Allow& allow, const Slot* slot,
                            const std::vector<sandbox::Mount>& sealed = {});

// The order without its spec. It borrows from all three arguments.
SpawnOrder MakeOrder(const CommandPlan& plan, const policy::Allow& allow, const Slot& slot);

}  // namespace pa
