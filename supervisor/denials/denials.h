// Denials: which of a failed command's complaints the sandbox caused, and the line of policy that
// would lift each (docs/adr/0014).
//
//   // the Allow is used up by running
//   const sandbox::Confinement confinement = allow.confinement();
//   ...
//   DenialsOf(run, {*call.policy, Purpose::kBuild, confinement, directory})
//
// The source is the output, checked twice: what a line complains of is a denial only if the
// confinement of this very call does not grant it, and we ourselves, outside, may do it. Whatever
// the command may have tried must come to the same; where anything else could explain the line,
// nothing is said. Where mounts hide what is not granted, we do not look either: what is said then
// follows from the policy alone, or a command could ask us what lies there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/decide.h"
#include "policy/policy.h"
#include "supervisor/denials/path_probe.h"
#include "supervisor/run/execution.h"

namespace pa {

class JsonWriter;

inline constexpr std::size_t kMaxDenials = 16;

struct Denial {
  std::string path;     // resolved; or
  std::string syscall;  // `socket`
  std::string limit;    // `file_size`: what was to be written was too large; `path` may be unknown
  std::string access;   // of a path: read, write, execute
  std::string blocked_by;  // begins with landlock:, limits:, mounts:, protected path: or seccomp:
  std::string allow_with;  // the line of policy; "" where none can allow it
  std::string remark;      // what that line gives away besides, or why there is none
  std::string source;      // stderr, stdout
  bool operator==(const Denial&) const = default;
};

struct CommandOutput {
  std::string_view err;
  std::string_view out;
};

// What the command ran in. Borrowed.
struct Confined {
  const policy::Policy& policy;
  policy::Purpose purpose;
  const sandbox::Confinement& confinement;
  const std::string& directory;
  std::string search_path = {};  // PATH, for programs that are named without a directory
  bool namespaces = false;       // what is not granted cannot be seen either
  std::span<const SealedPath> sealed = {};
  std::chrono::system_clock::time_point since = {};  // when the command began
};

// Nothing for a command that succeeded or was never run.
std::vector<Denial> DenialsOf(const Execution& run, const Confined& confined);

std::vector<Denial> FindDenials(const CommandOutput& output, const Confined& confined,
                                PathProbe& probe);

// The array for `data`, and one line for the text and for people.
void WriteDenials(JsonWriter& writer, std::span<const Denial> denials);
std::string DenialText(const Denial& denial);

}  // namespace pa
