// WorkerSpec: the whole order for one worker, and nothing but the order.
//
//   Result<std::string> bytes = EncodeSpec(spec);     // supervisor
//   Result<UniqueFd> fd = SealedMemfd("spec", *bytes);
//
// The worker reads it with worker/spec_view.h. The wire format is worker/wire.h alone; it is versioned
// and strict, not stable: supervisor and worker are always of one build.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "sandbox/confinement.h"

namespace pa::worker {

// Descriptors at the worker's start. 0, 1 and 2 are the command's; everything from kFirstStray on is
// closed before anything else happens.
inline constexpr int kSpecFd = 3;      // sealed memfd with the spec
inline constexpr int kControlFd = 4;   // SOCK_SEQPACKET: status out, cancel in; hang-up = supervisor died
inline constexpr int kCwdFd = 5;       // O_PATH of the validated working directory
inline constexpr int kRulesetFd = 6;   // Landlock ruleset, when spec.has_ruleset_fd
inline constexpr int kFirstStray = 7;

enum class Action : std::uint8_t {
  kExecute = 1,     // become the guardian of `executable argv`
  kCreateFile = 2,  // create `create_path` beneath the working directory with what stdin holds; never replace
  kProbe = 3,       // try what the confinement must deny, report what was not denied
};

struct WorkerSpec {
  Action action = Action::kExecute;
  std::string executable;                // absolute
  std::vector<std::string> argv;
  std::vector<std::string> env;          // NAME=value; complete, nothing is inherited
  std::string working_directory;         // for messages, and for --spec by hand
  std::string tmp_dir;                   // private; emptied when the tree has ended; "" = none
  std::string create_path;               // kCreateFile: one component
  std::vector<sandbox::PathGrant> paths; // used when has_ruleset_fd is false
  sandbox::Network network = sandbox::Network::kNone;
  sandbox::ResourceLimits limits;
  std::string seccomp_program;           // struct sock_filter[]
  bool has_ruleset_fd = false;
  bool operator==(const WorkerSpec&) const = default;
};

inline constexpr std::size_t kMaxSpecBytes = 8u << 20;

// Refuses what the worker would refuse: NUL inside a string, a relative executable, too large.
Result<std::string> EncodeSpec(const WorkerSpec& spec);

// For tests, fuzzing and `--spec`: what the worker's own view sees, as owned values.
Result<WorkerSpec> DecodeSpec(std::string_view bytes);

}  // namespace pa::worker
