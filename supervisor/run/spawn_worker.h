// SpawnWorker: starts one worker with exactly the descriptors that worker/protocol.h names.
//
//   Task<Result<SpawnedWorker>> task = SpawnWorker(launchers, order);
//   Result<SpawnedWorker> worker = co_await task;
//
// A launcher forks it: the cost does not grow with our memory. Every descriptor of ours is
// close-on-exec.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/run/launcher.h"

namespace pa {

struct SpawnOrder {
  LaunchKind launch;                           // its program is not in the spec, if it has one
  std::string_view spec;                       // encoded; becomes a sealed memfd
  int cwd = -1;                                // borrowed
  int ruleset = -1;                            // borrowed; -1: none
  std::optional<std::string_view> stdin_data;  // nothing: /dev/null
  sandbox::ResourceLimits limits;              // of its cgroup, where there are any
};

// Our side of a running worker.
struct SpawnedWorker {
  pid_t pid = -1;    // ours to reap; until then the number is its own
  UniqueFd control;  // SOCK_SEQPACKET; its hang-up is the worker's end: nobody else holds it
  UniqueFd out;      // non-blocking, as the next
  UniqueFd err;      // empty for one that works alone (LaunchKind::alone)
  std::optional<CallGroup> group;  // in which it and its tree live, where there are any
  UniqueFd spec;                   // its offset says whether anything has begun (worker/protocol.h)
};

// An error means that nothing runs and nothing is left open. Both are borrowed until it returns.
Task<Result<SpawnedWorker>> SpawnWorker(Launchers& launchers, const SpawnOrder& order);

}  // namespace pa
