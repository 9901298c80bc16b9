// DiscoverTargets: asks make which .PHONY targets there are in a directory.
//
//    Task<DiscoveredTargets> task = DiscoverTargets(work, *permission, *make, call);
//    DiscoveredTargets targets = co_await task;
//
// `make -pq` evaluates the whole Makefile, $(shell) and included rules, too, so it runs in the
// sandbox with the project read-only, without a network and with a deadline. If nothing can have
// changed since the last time, make is not asked again (supervisor/tools/target_cache.h).
//
// Whether the Makefile has the same text as last time only its digest tells. Who runs a target need
// not have it read here: RememberTargets says which text the list is of, and the worker compares it
// right before make begins (CommandPlan::file_digest).
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "base/digest.h"
#include "supervisor/tools/target_cache.h"
#include "supervisor/tools/work.h"

namespace pa {

using DiscoveredTargets = std::expected<TargetList, ToolError>;

// `make`: the absolute path of the program. `work` and `permission` must outlive the task.
Task<DiscoveredTargets> DiscoverTargets(const Work& work, const policy::Permission& permission,
                                        std::string make, CallContext& call);

struct RememberedTargets {
  TargetList list;  // as long as the text of list.makefile has this digest
  Digest digest = {};
};

// Nothing if make has to be asked, or the Makefile to be read.
std::optional<RememberedTargets> RememberTargets(const Work& work, std::string make,
                                                 CallContext& call);

}  // namespace pa
