#include "sandbox/rlimits.h"

#include <errno.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/try.h"

namespace pa::sandbox {
namespace {

struct Wanted {
  int resource;
  const char* name;
  rlim_t soft;
  rlim_t hard;
};

// A limit that is already stricter stays as it is: we only tighten, and as an ordinary user could
// not raise the hard one anyway.
SysResult<void> Tighten(const Wanted& wanted) {
  struct rlimit limit;
  if (getrlimit(static_cast<decltype(RLIMIT_CPU)>(wanted.resource), &limit) != 0) {
    return std::unexpected(SysError{"getrlimit", wanted.name, errno});
  }
  limit.rlim_max = std::min(limit.rlim_max, wanted.hard);
  limit.rlim_cur = std::min(wanted.soft, limit.rlim_max);
  if (setrlimit(static_cast<decltype(RLIMIT_CPU)>(wanted.resource), &limit) != 0) {
    return std::unexpected(SysError{"setrlimit", wanted.name, errno});
  }
  return {};
}

// Descriptors on their way through a socket are counted for the user, against the limit of
// whoever sends one. A command that may have as many as we could fill that count.
rlim_t BelowOurs(rlim_t wanted) {
  constexpr rlim_t kOurs = 512;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < 2 * kOurs) return wanted;
  return std::min(wanted, limit.rlim_max - kOurs);
}

}  // namespace

SysResult<void> ApplyLimits(const ResourceLimits& limits, std::uint64_t present_tasks) {
  const rlim_t cpu = limits.cpu_seconds;
  const rlim_t tasks = present_tasks + limits.processes;
  const rlim_t files = BelowOurs(limits.open_files);
  const Wanted all[] = {
      // A core file is a copy of the command's memory in the user's tree, as large as that memory.
      {RLIMIT_CORE, "RLIMIT_CORE", 0, 0},
      // A second after the guardian has its turn, which can say what happened: SIGXCPU, and another
      // second later SIGKILL to whoever ignores it.
      {RLIMIT_CPU, "RLIMIT_CPU", cpu == 0 ? 0 : cpu + 1, cpu + 2},
      {RLIMIT_NOFILE, "RLIMIT_NOFILE", files, files},
      {RLIMIT_FSIZE, "RLIMIT_FSIZE", limits.file_bytes, limits.file_bytes},
      {RLIMIT_NPROC, "RLIMIT_NPROC", limits.processes == 0 ? 0 : tasks, tasks},
  };
  for (const Wanted& wanted : all) {
    if (wanted.soft == 0 && wanted.resource != RLIMIT_CORE) continue;  // 0: no limit of this kind
    PA_TRY_VOID(Tighten(wanted));
  }
  return {};
}

}  // namespace pa::sandbox
