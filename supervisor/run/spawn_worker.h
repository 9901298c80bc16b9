// SpawnWorker: starts one worker with exactly the descriptors that worker/protocol.h names.
//
//    Task<Result<SpawnedWorker>> task = SpawnWorker(launchers, order);
//    Result<SpawnedWorker> worker = co_await task;
//
// A launcher forks the worker, so the cost does not grow with our memory. Every descriptor of ours
// is close-on-exec.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/run/launcher.h"

namespace pa {

struct SpawnOrder {
  LaunchKind launch;                           // if it has a program, the spec has none
  std::string_view spec;                       // encoded; becomes a sealed memfd
  int cwd = -1;                                // borrowed
  int ruleset = -1;                            // borrowed; -1: none
  std::optional<std::string_view> stdin_data;  // nothing: `stdin_file`
  int stdin_file = -1;                         // borrowed; -1: /dev/null
  sandbox::ResourceLimits limits;              // for its cgroup, if there are cgroups
};

// Our side of a running worker.
struct SpawnedWorker {
  pid_t pid = -1;    // for the caller to reap; not reused until then
  UniqueFd control;  // SOCK_SEQPACKET; hangs up when the worker ends: no one else holds it
  UniqueFd out;      // non-blocking, like err
  UniqueFd err;      // empty for a worker that works alone (LaunchKind::alone)
  std::optional<CallGroup> group;  // of the worker and its tree, if there are cgroups
  UniqueFd spec;  // its offset says whether the worker has begun (worker/protocol.h)
};

// An error means that nothing runs and nothing is left open. Both arguments are borrowed until it
// returns.
Task<Result<SpawnedWorker>> SpawnWorker(Launchers& launchers, const SpawnOrder& order);

}  // namespace pa
