// SpecView: a spec as the worker sees it, without copies: every string points into the encoded
// bytes.
//
//    char arena[SpecArenaBytes(bytes.size())];
//    SysResult<SpecView> spec = ParseSpec(bytes, arena);
//    execve(spec->executable, spec->argv.items, spec->env.items);
//
// Strict: a spec that is not exactly what EncodeSpec makes is refused, and so is a spec whose
// values do not fit together, because a worker that guesses is a security hole. Freestanding.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/sys_error.h"
#include "sandbox/values.h"
#include "sandbox/view.h"
#include "worker/protocol.h"

namespace pa::worker {

// `items` ends with a null pointer, as execve(2) wants it.
struct TextList {
  char** items = nullptr;
  std::size_t count = 0;
};

struct GrantView {
  const char* path = nullptr;
  sandbox::Access access = sandbox::Access::kNone;
  const char* reason = nullptr;
};

struct SpecView {
  Action action = Action::kExecute;
  const char* executable = "";
  TextList argv;
  TextList env;
  const char* working_directory = "";
  const char* tmp_dir = "";
  const char* shm_dir = "";
  const char* file = "";
  std::string_view file_digest;
  std::uint64_t read_bytes = 0;
  std::span<const GrantView> paths;
  sandbox::Network network = sandbox::Network::kNone;
  sandbox::ResourceLimits limits;
  std::uint64_t umask = kUmaskOfUser;
  std::string_view seccomp_program;
  bool has_ruleset_fd = false;
  std::span<const sandbox::MountView> mounts;
};

struct LaunchView {
  std::string_view seccomp_program;
  bool cgroups = false;
  bool namespaces = false;
  sandbox::Network network = sandbox::Network::kNone;
  std::span<const sandbox::MountView> view;
};

struct CeilingView {
  bool views = false;
  std::span<const GrantView> paths;
  sandbox::Network network = sandbox::Network::kNone;
  sandbox::ResourceLimits limits;
  std::span<const std::string_view> programs;
};

// The memory for the pointer arrays of any spec of this size: a text in a list takes at least 5
// bytes on the wire and 8 here, a grant or a mount at least 11 and 24, a blob at least 12 and 16.
constexpr std::size_t SpecArenaBytes(std::size_t spec_bytes) { return 3 * spec_bytes + 64; }

// `bytes` and `arena` must outlive the view; `arena` is aligned for pointers. The subject of the
// error is the field that was wrong.
SysResult<SpecView> ParseSpec(std::span<const char> bytes, std::span<char> arena);
SysResult<LaunchView> ParseLaunch(std::span<const char> bytes, std::span<char> arena);
SysResult<CeilingView> ParseCeiling(std::span<const char> bytes, std::span<char> arena);

}  // namespace pa::worker
