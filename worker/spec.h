// WorkerSpec: the whole order for one worker, and nothing but the order.
//
//   Result<std::string> bytes = EncodeSpec(spec);     // supervisor
//   Result<UniqueFd> fd = SealedMemfd("spec", *bytes);
//
// The worker reads it with worker/spec_view.h. The wire format is worker/wire.h alone; it is
// versioned and strict, not stable: supervisor and worker are always of one build.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "sandbox/confinement.h"
#include "worker/protocol.h"

namespace pa::worker {

struct WorkerSpec {
  Action action = Action::kExecute;
  std::string executable;  // absolute
  std::vector<std::string> argv;
  std::vector<std::string> env;   // NAME=value; complete, nothing is inherited
  std::string working_directory;  // for messages, and for --spec by hand
  std::string tmp_dir;            // private; emptied when the tree has ended; "" = none
  std::string shm_dir;            // the same for what stands at /dev/shm; beside tmp_dir
  std::string file;  // of the working directory: one component; to be written: beneath it; kProbe:
                     // worker/probe.h
  std::vector<sandbox::PathGrant> paths;  // used when has_ruleset_fd is false
  sandbox::Network network = sandbox::Network::kNone;
  sandbox::ResourceLimits limits;
  std::uint64_t umask = kUmaskOfUser;  // else 0 to 0777
  std::string seccomp_program;         // struct sock_filter[]; "" = the launcher has loaded it
  bool has_ruleset_fd = false;
  std::vector<sandbox::Mount> mounts;  // what the launcher's view lacks; none without namespaces
  bool operator==(const WorkerSpec&) const = default;
};

// Refuses what the worker would refuse, because it asks the worker's own decoder: NUL inside a
// string, a relative executable, half a seccomp instruction, too large.
Result<std::string> EncodeSpec(const WorkerSpec& spec);

// For tests, fuzzing and `--spec`: what the worker's own view sees, as owned values.
Result<WorkerSpec> DecodeSpec(std::string_view bytes);

// The order for a launcher: what all its workers have in common.
struct LaunchSpec {
  std::string seccomp_program;  // "": each worker loads the one of its spec
  bool cgroups = false;         // one for each worker, which comes with the order to fork it
  // User, mount, pid, ipc and uts namespaces for each worker, and one for the network, unless it is
  // kFull.
  bool namespaces = false;
  sandbox::Network network = sandbox::Network::kNone;
  std::vector<sandbox::Mount> view;
  bool operator==(const LaunchSpec&) const = default;
};

Result<std::string> EncodeLaunch(const LaunchSpec& spec);
Result<LaunchSpec> DecodeLaunch(std::string_view bytes);

}  // namespace pa::worker
