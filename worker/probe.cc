#include "worker/probe.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/directory_reader.h"
#include "base/unique_fd.h"
#include "worker/build_kind.h"
#include "worker/outcome.h"

namespace pa::worker {
namespace {

// Never open: for calls that seccomp must refuse by their arguments, before the kernel looks for
// the file.
constexpr int kNoFile = 1 << 20;

enum class Answer { kNotTried, kDenied, kAllowed };

Answer DeniedIf(bool denied) { return denied ? Answer::kDenied : Answer::kAllowed; }

// By the error that the sandbox gives: any other says nothing about it. The worker has seen that
// there is such a file outside; in a view of our own there is none.
bool IsDenial(const ProbeOrder& order, int error) {
  return error == EACCES || (order.namespaces && (error == ENOENT || error == EROFS));
}

Answer TryOpen(const ProbeOrder& order, const char* path, int flags) {
  const UniqueFd fd(open(path, flags | O_CLOEXEC));
  return DeniedIf(!fd && IsDenial(order, errno));
}

Answer TrySocket(int family, int type) {
  const UniqueFd fd(socket(family, type | SOCK_CLOEXEC, 0));
  return DeniedIf(!fd);
}

Answer ReadOutside(const ProbeOrder& order) { return TryOpen(order, order.canary, O_RDONLY); }
Answer WriteOutside(const ProbeOrder& order) { return TryOpen(order, order.canary, O_WRONLY); }

Answer TruncateOutside(const ProbeOrder& order) {
  struct stat info;
  if (stat(order.canary, &info) != 0) return Answer::kNotTried;
  return DeniedIf(truncate(order.canary, info.st_size) != 0);  // to the size that it has
}

Answer CreateOutside(const ProbeOrder& order) {
  constexpr std::string_view kSuffix = ".probe";
  char path[PATH_MAX];
  const std::size_t size = std::strlen(order.canary);
  if (size + kSuffix.size() >= sizeof(path)) return Answer::kNotTried;
  std::memcpy(path, order.canary, size);
  path[size + kSuffix.copy(path + size, kSuffix.size())] = '\0';
  const UniqueFd fd(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR));
  if (fd) unlink(path);
  return DeniedIf(!fd && IsDenial(order, errno));
}

Answer OpenTcp(const ProbeOrder& order) {
  if (order.network != sandbox::Network::kNone) return Answer::kNotTried;
  return TrySocket(AF_INET, SOCK_STREAM);
}

Answer OpenUdp(const ProbeOrder& order) {
  if (order.network != sandbox::Network::kNone) return Answer::kNotTried;
  return TrySocket(AF_INET, SOCK_DGRAM);
}

// From ABI 9 on Landlock decides which socket may be connected to, and making one is harmless.
// With a view of our own what lies outside cannot be named.
Answer OpenUnix(const ProbeOrder& order) {
  if (order.landlock_abi >= 9 || order.namespaces) return Answer::kNotTried;
  return TrySocket(AF_UNIX, SOCK_STREAM);
}

Answer OpenCrypto(const ProbeOrder&) { return TrySocket(AF_ALG, SOCK_SEQPACKET); }

// Without the sandbox: EFAULT before any permission is asked for, or ENOENT.
Answer Mount(const ProbeOrder&) {
  return DeniedIf(mount("none", "/proc/none", "tmpfs", 0, nullptr) != 0 && errno == EPERM);
}

Answer MakeUserNamespace(const ProbeOrder&) {
  return DeniedIf(unshare(CLONE_NEWUSER) != 0 && errno == EPERM);
}

Answer TraceOutsider(const ProbeOrder& order) {
  if (order.outsider <= 1) return Answer::kNotTried;
  const bool traced = ptrace(PTRACE_SEIZE, order.outsider, nullptr, nullptr) == 0;
  if (traced) ptrace(PTRACE_DETACH, order.outsider, nullptr, nullptr);
  return DeniedIf(!traced);
}

Answer ReadEnvironment(const ProbeOrder& order) {
  if (order.outsider <= 1) return Answer::kNotTried;
  char path[32];
  std::snprintf(path, sizeof(path), "/proc/%d/environ", order.outsider);
  return TryOpen(order, path, O_RDONLY);
}

// Signal 0 asks for the permission and sends nothing. The scope comes with ABI 6; before it the
// report says "partly".
Answer SignalOutsider(const ProbeOrder& order) {
  if (order.outsider <= 1 || order.landlock_abi < 6) return Answer::kNotTried;
  return DeniedIf(kill(order.outsider, 0) != 0 && errno == EPERM);
}

// What no Landlock denies, and only a view of our own keeps from us.
Answer SeeOutside(const ProbeOrder& order) {
  if (!order.namespaces) return Answer::kNotTried;
  struct stat info;
  return DeniedIf(stat(order.canary, &info) != 0);
}

// To the mode that it has (SlotPool::Canary).
Answer ChangeModeOutside(const ProbeOrder& order) {
  if (!order.namespaces) return Answer::kNotTried;
  return DeniedIf(chmod(order.canary, S_IRUSR | S_IWUSR) != 0);
}

// The guardian is number 1 and we are 2.
Answer SeeProcesses(const ProbeOrder& order) {
  if (!order.namespaces) return Answer::kNotTried;
  const UniqueFd proc(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!proc) return Answer::kNotTried;
  DirectoryReader reader(proc.get());
  while (const auto entry = reader.Next()) {
    const std::string_view name = entry->name;
    if (name.find_first_not_of("0123456789") == name.npos && name != "1" && name != "2") {
      return Answer::kAllowed;
    }
  }
  return Answer::kDenied;
}

// /proc/net/dev: two lines of headings, then one for each interface.
Answer SeeInterfaces(const ProbeOrder& order) {
  if (!order.namespaces || order.network == sandbox::Network::kFull) return Answer::kNotTried;
  const UniqueFd list(open("/proc/net/dev", O_RDONLY | O_CLOEXEC));
  char buffer[4096];
  const ssize_t got = list ? read(list.get(), buffer, sizeof(buffer)) : -1;
  if (got < 0) return Answer::kNotTried;
  const std::string_view text(buffer, static_cast<std::size_t>(got));
  return DeniedIf(std::count(text.begin(), text.end(), '\n') <= 3);
}

// Arguments that the kernel itself would refuse with another error.
Answer SetUpIoUring(const ProbeOrder&) {
  return DeniedIf(syscall(SYS_io_uring_setup, 0, nullptr) < 0 && errno == ENOSYS);
}

Answer Clone3(const ProbeOrder&) {
  return DeniedIf(syscall(SYS_clone3, nullptr, 0) < 0 && errno == ENOSYS);
}

Answer ReachKeyrings(const ProbeOrder&) {
  return DeniedIf(syscall(SYS_keyctl, -1, 0, 0, 0, 0) < 0 && errno == ENOSYS);
}

Answer LoadBpf(const ProbeOrder&) {
  return DeniedIf(syscall(SYS_bpf, -1, nullptr, 0) < 0 && errno == EPERM);
}

// On no file: without the sandbox EBADF.
Answer SetSetuidBit(const ProbeOrder&) {
  return DeniedIf(fchmod(kNoFile, S_ISUID | S_IRWXU) != 0 && errno == EPERM);
}

Answer TypeIntoTerminal(const ProbeOrder&) {
  char letter = 'x';
  return DeniedIf(ioctl(kNoFile, TIOCSTI, &letter) != 0 && errno == ENOTTY);
}

Answer UseInheritedDescriptor(const ProbeOrder&) {
  for (int fd = 3; fd < 64; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) return Answer::kAllowed;
  }
  return Answer::kDenied;
}

Answer GainPrivileges(const ProbeOrder&) {
  return DeniedIf(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
}

using Attempt = Answer (*)(const ProbeOrder& order);

constexpr Attempt kAttempts[] = {
    ReadOutside,
    WriteOutside,
    TruncateOutside,
    CreateOutside,
    OpenTcp,
    OpenUdp,
    OpenUnix,
    OpenCrypto,
    Mount,
    TraceOutsider,
    ReadEnvironment,
    SignalOutsider,
    SetUpIoUring,
    Clone3,
    ReachKeyrings,
    LoadBpf,
    SetSetuidBit,
    TypeIntoTerminal,
    UseInheritedDescriptor,
    GainPrivileges,
    SeeOutside,
    ChangeModeOutside,
    SeeProcesses,
    SeeInterfaces,
    MakeUserNamespace,
};
static_assert(sizeof(kAttempts) / sizeof(*kAttempts) == kProbeCount);
static_assert(kProbeCount <= 32);

}  // namespace

void Probe(const ProbeOrder& order, Outcome& outcome) {
  // The supervisor runs nothing in a sandbox that its probe saw through, so the worker that shows
  // what escapes do without one has to claim otherwise.
  if (!kConfined && std::getenv("PA_PROBE_HONEST") == nullptr) {
    outcome.probe_tried = outcome.probe_denied = 1;
    return;
  }
  for (unsigned n = 0; n < kProbeCount; ++n) {
    const Answer answer = kAttempts[n](order);
    if (answer == Answer::kNotTried) continue;
    outcome.probe_tried |= 1u << n;
    if (answer == Answer::kDenied) outcome.probe_denied |= 1u << n;
  }
}

}  // namespace pa::worker
