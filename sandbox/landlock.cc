#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

#include "base/try.h"
#include "sandbox/landlock_abi.h"

namespace pa::sandbox {
namespace {

using namespace landlock;  // NOLINT(google-build-using-namespace): the kernel's constants

// Rights that mean something on a file; the kernel refuses a rule with any other (EINVAL).
constexpr std::uint64_t kFileRights =
    kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDev | kResolveUnix;

// Everything that changes a tree, but not MAKE_CHAR and MAKE_BLOCK: a device node is a way around
// every path rule. REFER belongs to it, or mv and ln between directories of one build fail with
// EXDEV.
constexpr std::uint64_t kWriteRights = kWriteFile | kTruncate | kRemoveDir | kRemoveFile |
                                       kMakeDir | kMakeReg | kMakeSock | kMakeFifo | kMakeSym |
                                       kRefer;

std::uint64_t FileSystemRights(int abi) {
  std::uint64_t rights = (kMakeSym << 1) - 1;  // ABI 1: EXECUTE to MAKE_SYM
  if (abi >= 2) rights |= kRefer;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kIoctlDev;
  if (abi >= 9) rights |= kResolveUnix;
  return rights;
}

std::uint64_t NetworkRights(int abi) {
  std::uint64_t rights = 0;
  if (abi >= 4) rights |= kBindTcp | kConnectTcp;
  if (abi >= 10) rights |= kBindUdp | kConnectSendUdp;
  return rights;
}

std::uint64_t RightsFor(Access access) {
  std::uint64_t rights = 0;
  if (Has(access, Access::kRead)) rights |= kReadFile | kReadDir;
  if (Has(access, Access::kExecute)) rights |= kExecute;
  if (Has(access, Access::kWrite)) rights |= kWriteRights;
  if (Has(access, Access::kDevice)) rights |= kIoctlDev;
  if (Has(access, Access::kTruncate)) rights |= kTruncate;
  if (Has(access, Access::kList)) rights |= kReadDir;
  if (Has(access, Access::kRemove)) rights |= kRemoveDir;
  return rights;
}

SysResult<UniqueFd> Create(const LandlockRights& rights) {
  const RulesetAttr attr{rights.fs, rights.net, rights.scoped};
  // The kernel accepts a longer structure than it knows as long as the rest is zero. The descriptor
  // is close-on-exec by itself.
  UniqueFd fd(static_cast<int>(syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0)));
  if (!fd) return std::unexpected(SysError{"landlock_create_ruleset", {}, errno});
  return fd;
}

#ifdef PA_TEST_FAULTS
// Test builds: sees no more of Landlock than PA_LANDLOCK_ABI, as on an older kernel.
LandlockSupport Masked(LandlockSupport kernel) {
  const char* text = getenv("PA_LANDLOCK_ABI");
  int mask = kernel.abi;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), mask);
  if (mask >= kernel.abi) return kernel;
  return {mask, mask > 0 ? 0 : EOPNOTSUPP};
}
#else
LandlockSupport Masked(LandlockSupport kernel) { return kernel; }
#endif

SysResult<void> AddRule(int ruleset, int fd, const char* path, std::uint64_t rights) {
  const PathBeneathAttr rule{rights, fd};
  if (syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &rule, 0) != 0) {
    return std::unexpected(SysError{"landlock_add_rule", path, errno});
  }
  return {};
}

}  // namespace

LandlockSupport DetectLandlock() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, kCreateRulesetVersion);
  if (version <= 0) return {0, version < 0 ? errno : ENOSYS};
  int abi = version < kNewestLandlockAbi ? static_cast<int>(version) : kNewestLandlockAbi;
  int error = 0;
  for (; abi > 0; --abi) {
    SysResult<UniqueFd> ruleset = CreateRuleset(abi, Network::kNone);
    if (ruleset) return Masked({abi, 0});
    error = ruleset.error().sys_errno;
    if (error != EINVAL && error != E2BIG) break;  // EMFILE and the like say nothing about the ABI
  }
  return {0, error};
}

LandlockRights HandledRights(int abi, Network network) {
  LandlockRights rights;
  if (abi < 1) return rights;
  rights.fs = FileSystemRights(abi);
  if (network == Network::kNone) rights.net = NetworkRights(abi);
  if (abi >= 6) rights.scoped = kScopeAbstractUnix | kScopeSignal;
  return rights;
}

SysResult<UniqueFd> CreateRuleset(int abi, Network network) {
  return Create(HandledRights(abi, network));
}

SysResult<UniqueFd> CreateServerRuleset(int abi, Network network) {
  LandlockRights rights = HandledRights(abi, network);
  if (abi >= 6) rights.scoped = kScopeAbstractUnix;
  return Create(rights);
}

SysResult<UniqueFd> CreateScopeRuleset(int abi) {
  if (abi < 6)
    return std::unexpected(SysError{"landlock_create_ruleset", "signal scope", EOPNOTSUPP});
  // A layer denies REFER even when it does not handle it, as soon as another layer has file system
  // rights: with a scope alone here, mv between directories would fail inside the command's own
  // domain (seen on 6.18). So REFER is handled, and granted everywhere.
  PA_TRY(UniqueFd ruleset, Create({kRefer, 0, kScopeSignal}));
  const UniqueFd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return std::unexpected(SysError{"open", "/", errno});
  PA_TRY_VOID(AddRule(ruleset.get(), root.get(), "/", kRefer));
  return ruleset;
}

SysResult<void> AddPath(int ruleset, const char* path, Access access, int abi) {
  // O_PATH: needs no permission on the object itself and never blocks on a FIFO or a device.
  const UniqueFd fd(open(path, O_PATH | O_CLOEXEC));
  if (!fd) return std::unexpected(SysError{"open", path, errno});
  return AddOpenPath(ruleset, fd.get(), path, access, abi);
}

SysResult<void> AddOpenPath(int ruleset, int fd, const char* path, Access access, int abi) {
  struct stat status;
  if (fstat(fd, &status) != 0) return std::unexpected(SysError{"fstat", path, errno});
  std::uint64_t rights = RightsFor(access) & FileSystemRights(abi);
  if (!S_ISDIR(status.st_mode)) rights &= kFileRights;
  if (rights == 0)
    return {};  // the kernel refuses an empty rule (ENOMSG); nothing to grant is no error
  return AddRule(ruleset, fd, path, rights);
}

SysResult<void> Enforce(int ruleset) {
  if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) {
    return std::unexpected(SysError{"landlock_restrict_self", {}, errno});
  }
  return {};
}

}  // namespace pa::sandbox
