// Denials: which error messages of a failed command the sandbox caused, and for each the line of
// policy that would allow the access (docs/adr/0014).
//
//    // The allow is used up by running.
//    const auto confinement = allow.SharedConfinement();
//    ...
//    DenialsOf(run, {*call.policy, Purpose::kBuild, *confinement, directory})
//
// The source is the output, and each line is checked twice: it is a denial only if the confinement
// of this call does not grant the access, and if we, outside the sandbox, may do it. If the line
// could also mean an access that fails outside, nothing is reported. Where mounts hide paths that
// are not granted, we do not look at those paths either: their denials follow from the policy
// alone, because otherwise a command could ask us what lies there. What no command may do at all
// (closed_calls.h) is a denial without a check and without a line.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/decide.h"
#include "policy/policy.h"
#include "supervisor/denials/path_inspector.h"
#include "supervisor/run/execution.h"

namespace pa {

class JsonWriter;

inline constexpr std::size_t kMaxDenials = 16;

struct Denial {
  std::string path;     // resolved; "" = unknown, or no path is concerned
  std::string syscall;  // `socket`; "" = none
  std::string limit;    // `file_size`: a file became too large; `path` may be unknown
  std::string access;   // of a path: read, write, execute
  // Begins with landlock:, limits:, mounts:, no_new_privs:, protected path: or seccomp:
  std::string blocked_by;
  std::string allow_with;  // the line of policy; "" where none can allow it
  std::string remark;      // what else that line allows, or why there is no line
  std::string source;      // stderr, stdout
  bool operator==(const Denial&) const = default;
};

struct CommandOutput {
  std::string_view err;
  std::string_view out;
};

// What the command ran in: confinement, directory, policy. Borrowed.
struct Confined {
  const policy::Policy& policy;
  policy::Purpose purpose;
  const sandbox::Confinement& confinement;
  const std::string& directory;
  std::string search_path = {};  // PATH, for programs that are named without a directory
  bool namespaces = false;       // paths that are not granted cannot be seen either
  std::span<const SealedPath> sealed = {};
  std::chrono::system_clock::time_point since = {};  // when the command began
  std::string_view script = {};  // what a shell was given to run, which names what it writes
  bool privileged = false;       // outside the sandbox the command would be root's
};

// Empty for a command that succeeded or never ran. Takes `namespaces`, `sealed` and `since` from
// `run`, `privileged` from this process. If `inside` is asked something, the answer is preliminary.
std::vector<Denial> DenialsOf(const Execution& run, const Confined& confined, Inside& inside);

std::vector<Denial> FindDenials(const CommandOutput& output, const Confined& confined,
                                PathInspector& inspector);

// The array for `data`, and one line for the text and for people.
void WriteDenials(JsonWriter& writer, std::span<const Denial> denials);
std::string DenialText(const Denial& denial);

}  // namespace pa
