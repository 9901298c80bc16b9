#include "sandbox/capabilities.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "base/try.h"

namespace pa::sandbox {
namespace {

// linux/capability.h, which musl does not have.
constexpr std::uint32_t kVersion3 = 0x20080522;
constexpr int kCapChown = 0;
constexpr int kCapDacOverride = 1;
constexpr int kCapFowner = 3;
constexpr int kCapFsetid = 4;
constexpr int kLastPossible = 63;
constexpr std::uint32_t kKept =
    1u << kCapChown | 1u << kCapDacOverride | 1u << kCapFowner | 1u << kCapFsetid;

struct Header {
  std::uint32_t version;
  std::int32_t pid;
};
struct Sets {
  std::uint32_t effective;
  std::uint32_t permitted;
  std::uint32_t inheritable;
};

SysResult<void> NarrowBoundingSet() {
  for (int cap = 0; cap <= kLastPossible; ++cap) {
    if (cap <= kCapFsetid && (kKept >> cap & 1) != 0) continue;
    if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0) continue;
    if (errno == EINVAL) break;     // beyond the last one that this kernel has
    if (errno == EPERM) return {};  // no CAP_SETPCAP: see the header
    return std::unexpected(SysError{"prctl", "PR_CAPBSET_DROP", errno});
  }
  return {};
}

SysResult<void> SetCapabilities(std::uint32_t wanted) {
  Header header{kVersion3, 0};
  Sets sets[2] = {};  // two words of 32 bits; the four that we keep are all in the first
  if (syscall(SYS_capget, &header, sets) != 0)
    return std::unexpected(SysError{"capget", {}, errno});
  const std::uint32_t kept = sets[0].permitted & wanted;  // a container may have taken some already
  sets[0] = {kept, kept, 0};
  sets[1] = {};
  if (syscall(SYS_capset, &header, sets) != 0)
    return std::unexpected(SysError{"capset", {}, errno});
  return {};
}

}  // namespace

SysResult<void> DropCapabilities() {
  const bool root = geteuid() == 0;
  if (root) {  // before capset, which takes CAP_SETPCAP away
    PA_TRY_VOID(NarrowBoundingSet());
  }
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) {
    return std::unexpected(SysError{"prctl", "PR_CAP_AMBIENT_CLEAR_ALL", errno});
  }
  return SetCapabilities(root ? kKept : 0);
}

}  // namespace pa::sandbox
