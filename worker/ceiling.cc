#include "worker/ceiling.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/try.h"
#include "worker/wire.h"

namespace pa::worker {
namespace {

using sandbox::Access;
using sandbox::MountKind;
using sandbox::Network;

std::unexpected<SysError> Beyond(std::string_view what) {
  return std::unexpected(SysError{"beyond the policy", what, EPERM});
}

// Without `.` and `..`, which a comparison of names would not understand. No symlink is followed
// where such a path is opened (sandbox::OpenOutside).
bool IsPlain(std::string_view path) {
  if (!path.starts_with('/')) return false;
  if (path == "/") return true;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = end + 1;
  }
  return true;
}

bool Lies(std::string_view path, std::string_view directory) {
  if (directory == "/") return true;
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

SysResult<void> CheckPath(const CeilingView& ceiling, std::string_view path, Access access) {
  const bool within =
      IsPlain(path) && std::ranges::any_of(ceiling.paths, [&](const GrantView& one) {
        return sandbox::Has(one.access, access) && Lies(path, one.path);
      });
  return within ? SysResult<void>() : Beyond(path);
}

// As long as a view is made, the old root is at /proc: what is made there, a directory, a file or a
// symlink, is made outside.
SysResult<void> CheckTarget(std::string_view path) {
  return IsPlain(path) && !Lies(path, "/proc") ? SysResult<void>() : Beyond(path);
}

SysResult<void> CheckMount(const CeilingView& ceiling, const sandbox::MountView& mount) {
  PA_TRY_VOID(CheckTarget(mount.target));
  switch (mount.kind) {
    case MountKind::kDirectory:
    case MountKind::kTmpfs:
    case MountKind::kSymlink:
      return {};  // it shows nothing
    case MountKind::kReadOnly:
      return CheckPath(ceiling, mount.source, Access::kRead);
    case MountKind::kWritable:
      return CheckPath(ceiling, mount.source, Access::kWrite);
    case MountKind::kDevice:
      return CheckPath(ceiling, mount.source, Access::kDevice);
    case MountKind::kOverlay:  // the directory shows through; `source` gets the changes
      PA_TRY_VOID(CheckPath(ceiling, mount.target, Access::kRead));
      PA_TRY_VOID(CheckPath(ceiling, mount.source, Access::kWrite));
      return {};
  }
  return Beyond("a mount");
}

SysResult<void> CheckMounts(const CeilingView& ceiling,
                            std::span<const sandbox::MountView> mounts) {
  for (const sandbox::MountView& mount : mounts) PA_TRY_VOID(CheckMount(ceiling, mount));
  return {};
}

SysResult<void> CheckProgram(const CeilingView& ceiling, std::string_view program) {
  const bool known = std::ranges::find(ceiling.programs, program) != ceiling.programs.end();
  return known ? SysResult<void>() : Beyond("seccomp_program");
}

// kLoopback is of a network namespace: it reaches nothing outside.
SysResult<void> CheckNetwork(const CeilingView& ceiling, Network network) {
  const bool full = network == Network::kFull && ceiling.network != Network::kFull;
  return full ? Beyond("network") : SysResult<void>();
}

// As the wire has them, so that none is forgotten here.
struct NamedLimits {
  static constexpr std::size_t kMost = 16;
  const char* names[kMost] = {};
  std::uint64_t values[kMost] = {};
  std::size_t count = 0;
  bool Number(const char* name, std::uint64_t value) {
    if (count == kMost) return false;
    names[count] = name;
    values[count++] = value;
    return true;
  }
};

SysResult<void> CheckLimits(const SpecView& spec, const CeilingView& ceiling) {
  NamedLimits asked;
  NamedLimits most;
  if (!VisitLimits(asked, spec.limits) || !VisitLimits(most, ceiling.limits)) {
    return Beyond("limits");
  }
  for (std::size_t i = 0; i < asked.count; ++i) {
    // Who works alone starts nobody (IsAlone).
    const bool counts = asked.names[i] != std::string_view("processes") || !IsAlone(spec.action);
    const bool more = asked.values[i] == 0 || asked.values[i] > most.values[i];
    if (counts && most.values[i] != 0 && more) return Beyond(asked.names[i]);
  }
  return {};
}

// The guardian opens it, to see that the command cannot.
SysResult<void> CheckCanary(const SpecView& spec, const CeilingView& ceiling) {
  if (spec.action != Action::kProbe) return {};
  return CheckPath(ceiling, spec.file, Access::kWrite);
}

// The guardian empties them, with all rights that it has.
SysResult<void> CheckTmpDirs(const SpecView& spec, const CeilingView& ceiling) {
  for (const char* path : {spec.tmp_dir, spec.shm_dir}) {
    if (path[0] != '\0') PA_TRY_VOID(CheckPath(ceiling, path, Access::kWrite));
  }
  return {};
}

}  // namespace

SysResult<void> CheckLaunch(const LaunchView& launch, const CeilingView& ceiling) {
  if (launch.namespaces != ceiling.views) return Beyond("namespaces");
  if (!launch.seccomp_program.empty()) PA_TRY_VOID(CheckProgram(ceiling, launch.seccomp_program));
  PA_TRY_VOID(CheckNetwork(ceiling, launch.network));
  return CheckMounts(ceiling, launch.view);
}

SysResult<void> CheckOrder(const SpecView& spec, const CeilingView& ceiling, Standing standing) {
  if (!standing.seccomp_loaded) PA_TRY_VOID(CheckProgram(ceiling, spec.seccomp_program));
  PA_TRY_VOID(CheckLimits(spec, ceiling));
  if (!standing.namespaces) return {};
  PA_TRY_VOID(CheckCanary(spec, ceiling));
  PA_TRY_VOID(CheckTmpDirs(spec, ceiling));
  return CheckMounts(ceiling, spec.mounts);
}

}  // namespace pa::worker
