// SpawnWorker: starts one worker with exactly the descriptors that worker/spec.h names.
//
//   Result<SpawnedWorker> worker = SpawnWorker({.path = worker_path, .spec = *spec_fd, .cwd =
//   dir.fd()});
//
// posix_spawn, not fork: the cost does not grow with our memory. Every descriptor of ours is
// close-on-exec.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"

namespace pa {

struct SpawnOrder {
  std::string worker_path;  // executable or script; absolute, or as execve takes it
  std::string_view spec;    // encoded; becomes a sealed memfd
  int cwd = -1;             // borrowed
  int ruleset = -1;         // borrowed; -1: none
  std::optional<std::string_view> stdin_data;  // nothing: /dev/null
};

// Our side of a running worker. All descriptors are non-blocking.
struct SpawnedWorker {
  pid_t pid = -1;    // ours to reap; until then the number is its own
  UniqueFd control;  // SOCK_SEQPACKET; its hang-up is the worker's end: nobody else holds it
  UniqueFd out;
  UniqueFd err;
};

// An error means that nothing runs and nothing is left open.
Result<SpawnedWorker> SpawnWorker(const SpawnOrder& order);

}  // namespace pa
