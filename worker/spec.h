// WorkerSpec: the whole order for one worker, and nothing else.
//
//    Result<std::string> bytes = EncodeSpec(spec);     // supervisor
//    Result<UniqueFd> fd = SealedMemfd("spec", *bytes);
//
// The worker reads it with worker/spec_view.h. worker/wire.h alone defines the format, which is
// versioned and strict, but not stable: supervisor and worker are always of one build.
#pragma once

#include <cstdint>
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
  std::vector<std::string> env;   // NAME=value; complete: nothing is inherited
  std::string working_directory;  // for messages, and for --spec by hand
  std::string tmp_dir;            // private; emptied when the tree has ended; "" = none
  std::string shm_dir;            // the same for the directory at /dev/shm; beside tmp_dir
  // kReadFile: one component in the working directory. kWriteFile, kRemoveTemp, kDeleteFile: a path
  // beneath it. kProbe: see worker/probe.h.
  // kExecute: one component in the working directory, with `file_digest`; else "".
  std::string file;
  // kExecute: the SHA-256 that `file` has to have, or nothing is executed (Step::kCheckFile); "":
  // no file is looked at.
  std::string file_digest;
  std::uint64_t read_bytes = 0;           // kReadFile: of the file, from its beginning; 0: all
  std::vector<sandbox::PathGrant> paths;  // used when has_ruleset_fd is false
  sandbox::Network network = sandbox::Network::kNone;
  sandbox::ResourceLimits limits;
  std::uint64_t umask = kUmaskOfUser;  // otherwise 0 to 0777
  std::string seccomp_program;         // struct sock_filter[]; "" = the launcher has loaded it
  bool has_ruleset_fd = false;
  std::vector<sandbox::Mount> mounts;  // that the launcher's view lacks; none without namespaces
  bool operator==(const WorkerSpec&) const = default;
};

// Refuses everything that the worker would refuse, because it asks the worker's own decoder: a NUL
// inside a string, a relative executable, half a seccomp instruction, a spec that is too large.
Result<std::string> EncodeSpec(const WorkerSpec& spec);

// For tests, fuzzing and `--spec`: the values that the worker's view would show, as owned strings.
Result<WorkerSpec> DecodeSpec(std::string_view bytes);

// The order for a launcher: what all its workers have in common.
struct LaunchSpec {
  std::string seccomp_program;  // "" = each worker loads that of its spec
  // Each worker gets a cgroup, whose directory comes with the order to fork the worker.
  bool cgroups = false;
  // Each worker gets user, mount, pid, ipc and uts namespaces and, unless `network` is kFull, a
  // network namespace.
  bool namespaces = false;
  sandbox::Network network = sandbox::Network::kNone;
  std::vector<sandbox::Mount> view;
  bool operator==(const LaunchSpec&) const = default;
};

Result<std::string> EncodeLaunch(const LaunchSpec& spec);
Result<LaunchSpec> DecodeLaunch(std::string_view bytes);

// The most that a launcher and its workers may be ordered: what a policy can give to any command.
// It comes from the spawner (supervisor/spawner), not from whoever orders.
struct CeilingSpec {
  // The launcher makes views, which is its confinement. Otherwise it makes none, and enters the
  // Landlock domain of kCeilingRulesetFd; `paths` does not count.
  bool views = false;
  std::vector<sandbox::PathGrant> paths;  // what a mount may show, and whether writable
  sandbox::Network network = sandbox::Network::kNone;
  sandbox::ResourceLimits limits;     // 0: no limit
  std::vector<std::string> programs;  // the seccomp programs; none but these is loaded
  bool operator==(const CeilingSpec&) const = default;
};

Result<std::string> EncodeCeiling(const CeilingSpec& spec);
Result<CeilingSpec> DecodeCeiling(std::string_view bytes);

}  // namespace pa::worker
