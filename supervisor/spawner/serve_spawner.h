// ServeSpawner: the process that starts the server's helpers, so that the server can confine itself
// (docs/adr/0061). It is forked before the server reads anything of others, and reads nothing of
// them itself: a request is a number, and at most the name of a directory.
//
// Whoever controls the server can ask for helpers, and gets them within the bounds that `loads`
// returns: by Landlock for workers without namespaces and for the janitor; by the ceiling that the
// worker keeps (worker/ceiling.h) for those with.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/spawner/bounds.h"
#include "supervisor/spawner/server_policy.h"

namespace pa {

// Each runs in a process of its own.
struct SpawnerLoads {
  // As the files have it now. The subject of an error is what is wrong, a line each.
  std::function<Result<ServerPolicy>()> policy;
  // `directories`: those about which the server asked; what they need elsewhere becomes
  // Bounds::elsewhere.
  std::function<Result<Bounds>(const ServerPolicy&, const std::vector<std::string>& directories)>
      bounds;
};

struct SpawnerSockets {
  UniqueFd start;
  UniqueFd look;
};

// Until the server is gone. Returns the exit status.
int ServeSpawner(const SpawnerSockets& sockets, const SpawnerLoads& loads);

}  // namespace pa
