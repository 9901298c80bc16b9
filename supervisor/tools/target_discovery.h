// DiscoverTargets: asks make which .PHONY targets there are in a directory.
//
//    Task<DiscoveredTargets> task = DiscoverTargets(work, *permission, *make, call);
//    DiscoveredTargets targets = co_await task;
//
// `make -pq` evaluates the whole Makefile, $(shell) and included rules, too, so it runs in the
// sandbox with the project read-only, without a network and with a deadline. If nothing can have
// changed since the last time, make is not asked again (supervisor/tools/target_cache.h).
#pragma once

#include <expected>

#include "supervisor/tools/target_cache.h"
#include "supervisor/tools/work.h"

namespace pa {

using DiscoveredTargets = std::expected<TargetList, ToolError>;

// `make`: the absolute path of the program. `work` and `permission` must outlive the task.
Task<DiscoveredTargets> DiscoverTargets(const Work& work, const policy::Permission& permission,
                                        std::string make, CallContext& call);

}  // namespace pa
