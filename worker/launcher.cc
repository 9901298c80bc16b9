#include "worker/launcher.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <span>
#include <utility>

#include "base/try.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp_load.h"
#include "sandbox/user_namespace.h"
#include "sandbox/view.h"
#include "worker/build_kind.h"
#include "worker/ceiling.h"
#include "worker/harden.h"
#include "worker/launch_socket.h"
#include "worker/protocol.h"
#include "worker/reporter.h"
#include "worker/spec_view.h"
#include "worker/worker.h"

namespace pa::worker {
namespace {

struct Launcher {
  LaunchSocket socket;
  Outcome outcome;
  SysResult<std::span<char>> memory;  // of `spec`: its bytes, then its arrays
  LaunchView spec;
  SysResult<const CeilingView*> ceiling = nullptr;  // null: none
  UniqueFd domain;                                  // the ruleset of the ceiling
  // Of a command that runs, whose network all workers share; empty: each has its own. Closed once
  // we are there.
  UniqueFd network;
  bool joins = false;
};

// Who lists processes sees who is who. A failure would be of no consequence.
void SetName(const char* name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

SysResult<std::span<char>> MapMemory() {
  const std::size_t bytes = kMaxLaunchBytes + SpecArenaBytes(kMaxLaunchBytes);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::unexpected(SysError{"mmap", "launch spec", errno});
  return std::span(static_cast<char*>(memory), bytes);
}

// Before the descriptors are closed. It lives as long as we and our workers do.
SysResult<const CeilingView*> ReadCeiling() {
  struct stat info;
  if (fstat(kCeilingFd, &info) != 0) return std::unexpected(SysError{"fstat", "ceiling", errno});
  const auto size = static_cast<std::size_t>(info.st_size);
  if (!S_ISREG(info.st_mode) || size > kMaxCeilingBytes) {
    return std::unexpected(SysError{"ceiling", "size", EFBIG});
  }
  const std::size_t room = size + alignof(void*) + SpecArenaBytes(size);
  void* memory = mmap(nullptr, room + sizeof(CeilingView), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::unexpected(SysError{"mmap", "ceiling", errno});
  auto* view = new (memory) CeilingView;
  const std::span<char> bytes(static_cast<char*>(memory) + sizeof(CeilingView), room);
  const ssize_t got = pread(kCeilingFd, bytes.data(), size, 0);
  if (got != info.st_size) return std::unexpected(SysError{"read", "ceiling", EIO});
  const std::size_t arena = (size + alignof(void*) - 1) / alignof(void*) * alignof(void*);
  PA_TRY(*view, ParseCeiling(bytes.first(size), bytes.subspan(arena)));
  return view;
}

// A Landlock domain forbids to mount, so with views the ceiling is compared (worker/ceiling.h).
SysResult<void> EnterDomain(const Launcher& launcher) {
  const CeilingView* ceiling = *launcher.ceiling;
  if (ceiling == nullptr || ceiling->views || !kConfined) return {};
  // Without Landlock there is none, and workers run nothing (EnterLandlock in worker/child.cc).
  if (!launcher.domain && sandbox::DetectLandlock().abi < 1) return {};
  return sandbox::Enforce(launcher.domain.get());
}

SysResult<void> CheckBounds(const Launcher& launcher) {
  if (!launcher.ceiling) return std::unexpected(launcher.ceiling.error());
  if (*launcher.ceiling == nullptr) return {};
  return CheckLaunch(launcher.spec, **launcher.ceiling);
}

SysResult<void> ReadSpec(Launcher& launcher) {
  if (!launcher.memory) return std::unexpected(launcher.memory.error());
  PA_TRY(const auto bytes,
         launcher.socket.ReceiveSpec(launcher.memory->first(kMaxLaunchBytes), launcher.network));
  PA_TRY(launcher.spec, ParseLaunch(bytes, launcher.memory->subspan(kMaxLaunchBytes)));
  launcher.joins = bool(launcher.network);
  if (!launcher.joins || launcher.spec.namespaces) return {};
  return std::unexpected(SysError{"a network without namespaces", {}, EINVAL});
}

// Out of the supervisor's process group, and every worker that waits with us: what is meant for
// that group is the supervisor's to judge.
SysResult<void> LeaveProcessGroup() {
  if (setpgid(0, 0) == 0 || errno == EPERM) return {};
  return std::unexpected(SysError{"setpgid", {}, errno});
}

// A number that neither the descriptors of an order take nor CloseStrays closes.
SysResult<void> KeepAs(int number, const UniqueFd& fd) {
  return Attempt(dup3(fd.get(), number, O_CLOEXEC), "dup3");
}

bool HasNamespaces(const LaunchView& spec) { return kConfined && spec.namespaces; }

// What all workers of a policy see; each has its own copy, and adds what is its order's alone.
SysResult<void> EnterNamespaces(const LaunchView& spec, UniqueFd network) {
  PA_TRY_VOID(network ? sandbox::EnterNamespacesOf(network.get())
                      : sandbox::EnterUserAndMountNamespaces());
  PA_TRY(const UniqueFd old_root, sandbox::EnterEmptyView());
  for (const sandbox::MountView& mount : spec.view) {
    PA_TRY_VOID(sandbox::PlaceMount(old_root.get(), mount));
  }
  return {};
}

SysResult<void> LoadProgram(std::string_view program) {
  if (!kConfined || program.empty()) return {};
  return sandbox::LoadSeccomp(program);
}

// It refuses clone3, without which nobody is made in a cgroup: then each worker loads it ahead.
bool LoadsProgram(const LaunchView& spec) { return !spec.cgroups; }

bool Prepare(Launcher& launcher, Bounds bounds) {
  // All before anything may fail, so that the supervisor can be told. The socket before anything
  // below can meet a descriptor that it does not know.
  if (bounds == Bounds::kCeiling) {
    launcher.ceiling = ReadCeiling();
    launcher.domain.reset(fcntl(kCeilingRulesetFd, F_DUPFD_CLOEXEC, kFirstStray));
  }
  const SysResult<void> opened = launcher.socket.Open(launcher.domain.get());
  launcher.memory = MapMemory();
  const SysResult<void> read = ReadSpec(launcher);
  Outcome& outcome = launcher.outcome;
  const LaunchView& spec = launcher.spec;
  return Take(outcome, Step::kCloseDescriptors, [&] { return opened; }) &&
         Take(outcome, Step::kReadSpec, [&] { return read; }) &&
         Take(outcome, Step::kCeiling, [&] { return CheckBounds(launcher); }) &&
         // So that no directory is held that somebody wants to unmount.
         Take(outcome, Step::kWorkingDirectory, [] { return Attempt(chdir("/"), "chdir", "/"); }) &&
         Take(outcome, Step::kSession, [] { return LeaveProcessGroup(); }) &&
         Harden(outcome, HasNamespaces(spec) ? Keep::kCapabilities : Keep::kNothing) &&
         Take(outcome, Step::kCeiling, [&] { return EnterDomain(launcher); }) &&
         (!HasNamespaces(spec) ||
          Take(outcome, Step::kNamespaces,
               [&] { return EnterNamespaces(spec, std::move(launcher.network)); })) &&
         // Last, because it may refuse what the steps before it needed.
         (!LoadsProgram(spec) ||
          Take(outcome, Step::kSeccomp, [&] { return LoadProgram(spec.seccomp_program); }));
}

std::uint64_t NamespacesOf(const Launcher& launcher) {
  if (!HasNamespaces(launcher.spec)) return 0;
  constexpr std::uint64_t kAlways = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
  const bool shares = launcher.joins || launcher.spec.network == sandbox::Network::kFull;
  return shares ? kAlways : kAlways | CLONE_NEWNET;
}

// What takes no order, and therefore no time that anybody waits for. The old root anew: a
// descriptor of the launcher's is of its mount namespace, not of our copy.
SysResult<void> PrepareAhead() {
  const UniqueFd old_root(open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!old_root) return std::unexpected(SysError{"open", "the old root", errno});
  PA_TRY_VOID(KeepAs(kOldRootFd, old_root));
  PA_TRY(const UniqueFd proc, sandbox::PrepareProc(kOldRootFd));
  PA_TRY_VOID(KeepAs(kProcFd, proc));
  PA_TRY(const UniqueFd pts, sandbox::PreparePts());
  return pts ? KeepAs(kPtsFd, pts) : SysResult<void>();
}

int BecomeWorker(const LaunchView& spec, const CeilingView* ceiling) {
  Outcome outcome;
  const bool ready =
      (!HasNamespaces(spec) || Take(outcome, Step::kNamespaces, [] { return PrepareAhead(); })) &&
      (LoadsProgram(spec) ||
       Take(outcome, Step::kSeccomp, [&] { return LoadProgram(spec.seccomp_program); }));
  if (!AwaitOrder()) return 0;
  SetName("pa-worker");
  if (!ready) {
    Reporter(kControlFd).SetupFailed(outcome);
    return kExitSetupFailed;
  }
  return RunWorker({.seccomp_loaded = !spec.seccomp_program.empty(),
                    .namespaces = HasNamespaces(spec),
                    .ceiling = ceiling});
}

}  // namespace

int RunLauncher(Bounds bounds) {
  Launcher launcher;
  const bool ready = Prepare(launcher, bounds);
  if (!launcher.socket.is_open()) {
    Reporter(-1).SetupFailed(launcher.outcome);
    return kExitSetupFailed;
  }
  SetName("pa-launcher");
  // What failed is the failure of all workers that are asked for by now, and told by them without
  // waiting for an order: for the next there will be a new launcher.
  if (!ready) {
    launcher.socket.TakeNoMore();
    while (launcher.socket.is_open()) {
      if (launcher.socket.ForkOne(0)) Reporter(kControlFd).SetupFailed(launcher.outcome);
    }
    return kExitSetupFailed;
  }
  while (launcher.socket.is_open()) {
    if (launcher.socket.ForkOne(NamespacesOf(launcher))) {
      return BecomeWorker(launcher.spec, *launcher.ceiling);
    }
  }
  return 0;
}

}  // namespace pa::worker
