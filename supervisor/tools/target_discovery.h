// DiscoverTargets: which .PHONY targets there are in a directory, asked of make itself.
//
//   Task<DiscoveredTargets> task = DiscoverTargets(work, *Require("make", work, call), call);
//   DiscoveredTargets targets = co_await task;
//
// `make -pq` evaluates the whole Makefile, $(shell) and included rules too, so it runs in the
// sandbox with the project read-only, without a network and with a deadline. What cannot have
// changed since the last time is not asked again (supervisor/tools/target_cache.h).
#pragma once

#include <expected>

#include "supervisor/tools/target_cache.h"
#include "supervisor/tools/work.h"

namespace pa {

using DiscoveredTargets = std::expected<TargetList, ToolError>;

// `make` is the program, by its absolute path. `work` and `permission` outlive the task.
Task<DiscoveredTargets> DiscoverTargets(const Work& work, const policy::Permission& permission,
                                        std::string make, CallContext& call);

}  // namespace pa
