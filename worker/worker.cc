#include "worker/worker.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <span>

#include "base/empty_directory.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "sandbox/landlock.h"
#include "sandbox/loopback.h"
#include "sandbox/user_namespace.h"
#include "sandbox/view.h"
#include "worker/build_kind.h"
#include "worker/ceiling.h"
#include "worker/child.h"
#include "worker/guardian.h"
#include "worker/harden.h"
#include "worker/outcome.h"
#include "worker/process_tree.h"
#include "worker/reporter.h"
#include "worker/spec_view.h"

namespace pa::worker {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

// The reply waits for it. What is left then the supervisor removes by and by.
constexpr std::uint64_t kCleaningMs = 500;
constexpr std::size_t kStackBytes = 128u << 10;

// TMPDIR and what stands at /dev/shm, held since before the command: afterwards their names mean
// nothing here any more, or what the command has put in their place.
struct TmpDirs {
  UniqueFd base;      // in which the instance's directory lies; O_PATH
  UniqueFd instance;  // in which both lie; O_PATH
  UniqueFd tmp;
  UniqueFd shm;
};

// All that the steps make for each other.
struct Work {
  explicit Work(const Origin& origin)
      : by_hand(origin.file),
        seccomp_loaded(origin.seccomp_loaded),
        namespaces(origin.namespaces),
        ceiling(origin.ceiling) {}

  const char* by_hand;
  bool seccomp_loaded;
  bool namespaces;
  const CeilingView* ceiling;
  bool has_pts = false;  // the view has a devpts
  TmpDirs tmp;
  Outcome own_outcome;
  Outcome* outcome = &own_outcome;  // what the child leaves behind: in memory that both see
  UniqueFd spec_file;
  std::span<char> spec_bytes;
  SpecView spec;
  int landlock_abi = 0;
  Reach reach = Reach::kAnybody;
  std::optional<ProcessTree> tree;
  UniqueFd signal_fd;
  std::uint64_t started_us = 0;
  pid_t child = 0;
};

// The last component, and what of an absolute path stands before it; "" with the slash where that
// is all.
std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }
std::string_view ParentOf(std::string_view path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

void* Map(std::size_t bytes, int flags) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
}

// Whatever our ancestors left open by mistake is neither ours nor the command's. What must be there
// is, or a file that we open ourselves would get its number and become the command's stdout.
SysResult<void> CloseStrays(const Work& work) {
  const bool by_hand = work.by_hand != nullptr;
  const unsigned first =
      by_hand ? 3u : static_cast<unsigned>(work.namespaces ? kFirstStray : kOldRootFd);
  if (syscall(SYS_close_range, first, ~0u, 0u) != 0) return Failed("close_range");
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, kControlFd, kCwdFd}) {
    if (by_hand && fd > STDERR_FILENO) break;
    if (fcntl(fd, F_GETFD) < 0)
      return Failed("descriptor is not open", kDigits.substr(static_cast<std::size_t>(fd), 1));
  }
  return {};
}

// A sealed memfd cannot change under us nor afterwards, whoever else holds it.
SysResult<void> OpenSpec(Work& work) {
  if (work.by_hand != nullptr) {
    // A FIFO would be waited for, and is none.
    work.spec_file.reset(open(work.by_hand, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    return Attempt(work.spec_file.get(), "open", work.by_hand);
  }
  const int seals = fcntl(kSpecFd, F_GET_SEALS);
  if (seals < 0) return Failed("fcntl", "F_GET_SEALS");
  if ((seals & kSeals) != kSeals) return Failed("spec is not sealed", {}, EPERM);
  work.spec_file.reset(kSpecFd);
  return {};
}

// Into memory of our own, with room behind it for the pointers of argv and envp.
SysResult<void> ReadSpec(Work& work) {
  PA_TRY_VOID(OpenSpec(work));
  struct stat info;
  if (fstat(work.spec_file.get(), &info) != 0) return Failed("fstat", "spec");
  const auto size = static_cast<std::size_t>(info.st_size);
  if (!S_ISREG(info.st_mode) || size > kMaxSpecBytes) return Failed("spec", "size", EFBIG);
  const std::size_t room = size + alignof(void*) + SpecArenaBytes(size);
  void* memory = Map(room, MAP_PRIVATE);
  if (memory == MAP_FAILED) return Failed("mmap", "spec");
  work.spec_bytes = {static_cast<char*>(memory), size};
  const ssize_t got = pread(work.spec_file.get(), memory, size, 0);
  if (got < 0) return Failed("read", "spec");
  if (static_cast<std::size_t>(got) != size) return Failed("read", "spec", EIO);
  return {};
}

// Up to here a worker that is killed can be replaced by another one.
SysResult<void> MarkBegun(Work& work) {
  if (auto done = Attempt(lseek(work.spec_file.get(), kBegunOffset, SEEK_SET), "lseek", "spec");
      !done)
    return done;
  work.spec_file.reset();
  return {};
}

SysResult<void> DecodeSpec(Work& work) {
  const std::size_t used = work.spec_bytes.size();
  const std::size_t aligned = (used + alignof(void*) - 1) & ~(alignof(void*) - 1);
  const std::span<char> arena(work.spec_bytes.data() + aligned, SpecArenaBytes(used));
  PA_TRY(const SpecView spec, ParseSpec(work.spec_bytes, arena));
  if (work.by_hand != nullptr && spec.has_ruleset_fd) {
    return Failed("decode spec", "has_ruleset_fd, but run by hand", EINVAL);
  }
  // One program, here or there: never none, and never two of which each believes in the other.
  if (work.seccomp_loaded != spec.seccomp_program.empty()) {
    return Failed("decode spec", "seccomp_program", EINVAL);
  }
  // The other way round there would be no view, and the order counts on one.
  if (kConfined && work.namespaces == spec.mounts.empty()) {
    return Failed("decode spec", "mounts", EINVAL);
  }
  work.spec = spec;
  return {};
}

// Out of the supervisor's process group: a Ctrl-C there is the supervisor's to judge. By hand it is
// ours, and means cancel. (A session of its own, which costs more, only the command needs.) The
// umask stays: what the command creates is the user's.
SysResult<void> StartSession(Work& work) {
  if (work.by_hand == nullptr && setpgid(0, 0) != 0 && errno != EPERM) return Failed("setpgid");
  PA_TRY_VOID(TakeCancelSignals());
  sigset_t set;  // of those that are blocked, what the guardian reads
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : kCancelSignals) sigaddset(&set, number);
  work.signal_fd.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  return Attempt(work.signal_fd.get(), "signalfd");
}

// Orphans of the tree come to us instead of init.
SysResult<void> BecomeSubreaper() {
  return Attempt(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl", "CHILD_SUBREAPER");
}

// What the probe shall find closed must be open to whoever is not confined.
SysResult<void> CheckCanary(const Work& work) {
  const SpecView& spec = work.spec;
  if (spec.action != Action::kProbe) return {};
  if (work.namespaces) {
    const auto canary = sandbox::OpenOutside(kOldRootFd, spec.file, O_RDWR);
    return canary ? SysResult<void>() : std::unexpected(canary.error());
  }
  const UniqueFd canary(open(spec.file, O_RDWR | O_CLOEXEC));
  return Attempt(canary.get(), "open", spec.file);
}

SysResult<UniqueFd> OpenBase(const Work& work, const char* path) {
  if (work.namespaces) return sandbox::OpenOutside(kOldRootFd, path, O_PATH | O_DIRECTORY);
  UniqueFd fd(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return std::unexpected(SysError{"open", path, errno});
  return fd;
}

SysResult<void> OpenIn(const UniqueFd& parent, std::string_view path, int flags, UniqueFd& opened) {
  char name[NAME_MAX + 1];
  const std::string_view last = NameOf(path);
  if (last.size() >= sizeof(name)) return Failed("open", path, ENAMETOOLONG);
  name[last.copy(name, last.size())] = '\0';
  opened.reset(openat(parent.get(), name, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return Attempt(opened.get(), "open", path);
}

SysResult<void> KeepTmpDirs(Work& work) {
  const std::string_view path = work.spec.tmp_dir;
  if (path.empty()) return {};
  const std::string_view instance = ParentOf(path);
  const std::string_view base = ParentOf(instance);
  char name[PATH_MAX];
  if (base.size() >= sizeof(name)) return Failed("open", path, ENAMETOOLONG);
  name[base.copy(name, base.size())] = '\0';
  SysResult<UniqueFd> opened = OpenBase(work, name);
  if (!opened) return std::unexpected(SysError{"open", path, opened.error().sys_errno});
  TmpDirs& held = work.tmp;
  held.base = std::move(*opened);
  PA_TRY_VOID(OpenIn(held.base, instance, O_PATH, held.instance));
  PA_TRY_VOID(OpenIn(held.instance, path, O_RDONLY, held.tmp));
  if (work.spec.shm_dir[0] == '\0') return {};
  return OpenIn(held.instance, work.spec.shm_dir, O_RDONLY, held.shm);
}

// Overlays come last, on top of what keeps their directories as they are.
SysResult<void> PlaceMounts(const Work& work, bool overlays) {
  for (const sandbox::MountView& mount : work.spec.mounts) {
    if ((mount.kind == sandbox::MountKind::kOverlay) != overlays) continue;
    PA_TRY_VOID(sandbox::PlaceMount(kOldRootFd, mount));
  }
  return {};
}

SysResult<void> StartView(Work& work) {
  PA_TRY_VOID(CheckCanary(work));
  PA_TRY_VOID(KeepTmpDirs(work));
  return PlaceMounts(work, false);
}

// From here on nothing but the view can be named, and nobody here can change it any more.
SysResult<void> EnterView(Work& work) {
  const SpecView& spec = work.spec;
  if (spec.network == sandbox::Network::kLoopback) {
    PA_TRY_VOID(sandbox::RaiseLoopback());
  }
  work.has_pts = fcntl(kPtsFd, F_GETFD) >= 0;
  PA_TRY_VOID(sandbox::SealView(kProcFd, work.has_pts ? kPtsFd : -1, spec.mounts));
  PA_TRY_VOID(sandbox::EnterOwnUserNamespace(kOldRootFd));
  return Attempt(syscall(SYS_close_range, kOldRootFd, kFirstStray - 1, 0u), "close_range");
}

SysResult<Reach> ReachOf(const Work& work) {
  return work.namespaces ? ReachAsInit() : EnterSignalScope(work.landlock_abi);
}

SysResult<void> EnterScope(Work& work) {
  work.landlock_abi = sandbox::DetectLandlock().abi;
  PA_TRY(work.reach, ReachOf(work));
  PA_TRY(work.tree, ProcessTree::Open(work.reach, IsSampled(work.spec.limits)));
  return {};
}

// A command shares our memory until it has executed, as with vfork: nothing is copied, however the
// child ends we see how far it came, and clone returns when that is decided. The others never
// execute, so we would wait for their end: they get a copy of all but their outcome, and we watch
// over them as over any command.
SysResult<void> Spawn(Work& work) {
  if (!work.namespaces) {
    PA_TRY_VOID(CheckCanary(work));
    PA_TRY_VOID(KeepTmpDirs(work));
  }
  PA_TRY_VOID(MarkBegun(work));
  const bool executes = work.spec.action == Action::kExecute;
  void* stack = Map(kStackBytes, MAP_PRIVATE | MAP_STACK);
  void* shared = executes ? work.outcome : Map(sizeof(Outcome), MAP_SHARED);
  if (stack == MAP_FAILED || shared == MAP_FAILED) return Failed("mmap", "child");
  auto* outcome = executes ? work.outcome : new (shared) Outcome(*work.outcome);
  ChildOrder order{.spec = &work.spec,
                   .outcome = outcome,
                   .by_hand = work.by_hand != nullptr,
                   .seccomp_loaded = work.seccomp_loaded,
                   .namespaces = work.namespaces,
                   .has_pts = work.has_pts,
                   .landlock_abi = work.landlock_abi,
                   .guardian = getpid(),
                   .supervisor = getppid()};
  work.started_us = MonotonicMicroseconds();
  work.child = clone(RunChild, static_cast<char*>(stack) + kStackBytes,
                     executes ? CLONE_VM | CLONE_VFORK | SIGCHLD : SIGCHLD, &order);
  if (work.child < 0) return Failed("clone");
  work.outcome = outcome;
  return {};
}

bool TakeOrder(Work& work) {
  Outcome& outcome = work.own_outcome;
  return
      // First, so that nothing below can meet a descriptor that it does not know.
      Take(outcome, Step::kCloseDescriptors, [&] { return CloseStrays(work); }) &&
      Take(outcome, Step::kReadSpec, [&] { return ReadSpec(work); }) &&
      Take(outcome, Step::kDecodeSpec, [&] { return DecodeSpec(work); }) &&
      // Before anything is done that the order asks for.
      (work.ceiling == nullptr || Take(outcome, Step::kCeiling, [&] {
         return CheckOrder(work.spec, *work.ceiling,
                           {.seccomp_loaded = work.seccomp_loaded, .namespaces = work.namespaces});
       }));
}

// Everything before the command runs, in the order in which it must happen. A step that fails is
// the last: the command does not run.
bool Prepare(Work& work) {
  Outcome& outcome = work.own_outcome;
  return
      // Before there is a child whose SIGCHLD could be lost.
      Take(outcome, Step::kSession, [&] { return StartSession(work); }) &&
      // Before there is a process that could become an orphan.
      Take(outcome, Step::kSubreaper, [] { return BecomeSubreaper(); }) &&
      // Before Landlock, whose domains may mount nothing.
      (!work.namespaces ||
       (Take(outcome, Step::kMounts, [&] { return StartView(work); }) &&
        Take(outcome, Step::kOverlay, [&] { return PlaceMounts(work, true); }) &&
        Take(outcome, Step::kMounts, [&] { return EnterView(work); }) &&
        // The launcher has kept them for this.
        Take(outcome, Step::kCapabilities, [] { return DropCapabilities(); }))) &&
      // Before the child, so that the child's domain is nested in ours.
      Take(outcome, Step::kGuardianScope, [&] { return EnterScope(work); }) &&
      // The child goes on with the steps in child.cc.
      Take(outcome, Step::kSpawn, [&] { return Spawn(work); });
}

// The supervisor waits for the end of stdout and stderr: we must not hold them open. Both go at
// once, so that it is woken once.
void CloseWhatWasForTheChild(const Work& work) {
  const bool by_hand = work.by_hand != nullptr;
  const unsigned last = by_hand ? STDOUT_FILENO : STDERR_FILENO;
  syscall(SYS_close_range, 0u, last, 0u);
  if (by_hand) return;
  close(kCwdFd);
  if (work.spec.has_ruleset_fd) close(kRulesetFd);  // else the number is one of ours
}

// A child that is dead before it executed and left no error was killed in a step.
bool SetupFailed(Outcome& outcome, Step last_step) {
  if (!outcome.failed && outcome.step != last_step) {
    NoteFailure(outcome, SysError{"killed while it was set up", {}, ECANCELED});
  }
  return outcome.failed;
}

Step LastStep(Action action) {
  switch (action) {
    case Action::kExecute:
      return Step::kExecute;
    case Action::kProbe:
      return Step::kProbe;
    case Action::kReadFile:
      return Step::kReadFile;
    case Action::kWriteFile:
      return Step::kWriteFile;
    case Action::kRemoveTemp:
      return Step::kRemoveTemp;
    case Action::kDeleteFile:
      return Step::kDeleteFile;
  }
  return Step::kNone;
}

bool IsClean(const UniqueFd& held, const char* path) {
  if (path[0] == '\0') return true;
  const SysResult<bool> emptied = EmptyHeldDirectory(held.get(), path, kCleaningMs);
  return emptied && *emptied;
}

// The directory, if it is empty and still stands there.
void RemoveIn(const UniqueFd& parent, std::string_view path) {
  char name[NAME_MAX + 1];
  const std::string_view last = NameOf(path);
  if (last.empty() || last.size() >= sizeof(name)) return;
  name[last.copy(name, last.size())] = '\0';
  unlinkat(parent.get(), name, AT_REMOVEDIR);
}

void CleanTmpDirs(const Work& work, Guardian::End& end) {
  const SpecView& spec = work.spec;
  if (spec.tmp_dir[0] == '\0' || end.status.survivors != 0) return;
  const bool shm_clean = IsClean(work.tmp.shm, spec.shm_dir);
  end.status.tmp_clean = IsClean(work.tmp.tmp, spec.tmp_dir) && shm_clean ? 1 : 0;
  if (!end.orphaned) return;
  // The instance's directory goes with the last of its TMPDIRs: nobody else will, the supervisor is
  // dead.
  for (const char* path : {spec.shm_dir, spec.tmp_dir}) RemoveIn(work.tmp.instance, path);
  RemoveIn(work.tmp.base, ParentOf(spec.tmp_dir));
}

int Fail(const Reporter& reporter, const Outcome& outcome) {
  reporter.SetupFailed(outcome);
  return kExitSetupFailed;
}

// From the child's start to the end of all that it started.
int SeeToTheEnd(Work& work, const Reporter& reporter) {
  CloseWhatWasForTheChild(work);
  Outcome& outcome = *work.outcome;
  const bool executes = work.spec.action == Action::kExecute;
  const Step last_step = LastStep(work.spec.action);
  if (executes && SetupFailed(outcome, last_step)) return Fail(reporter, outcome);
  Guardian guardian({.command = work.child,
                     .control_fd = work.by_hand != nullptr ? -1 : kControlFd,
                     .signal_fd = work.signal_fd.get(),
                     .started_us = work.started_us,
                     .namespaces = work.namespaces,
                     .limits = work.spec.limits},
                    *work.tree);
  Guardian::End end = guardian.Run();
  CleanTmpDirs(work, end);
  if (!executes) {
    const bool by_itself = end.status.reason == EndReason::kExited;
    if (by_itself && SetupFailed(outcome, last_step)) return Fail(reporter, outcome);
    end.status.probe_denied = outcome.probe_denied;
    end.status.probe_tried = outcome.probe_tried;
  }
  reporter.Ended(end.status);
  return work.by_hand != nullptr ? ExitCode(end.status) : 0;
}

// Time, and a hang-up, are the supervisor's to see to: it kills us.
int WorkAlone(Work& work, const Reporter& reporter) {
  work.started_us = MonotonicMicroseconds();
  work.landlock_abi = sandbox::DetectLandlock().abi;
  const bool begun = Take(work.own_outcome, Step::kReadSpec, [&] { return MarkBegun(work); });
  const bool done = begun && RunAlone({.spec = &work.spec,
                                       .outcome = &work.own_outcome,
                                       .by_hand = work.by_hand != nullptr,
                                       .seccomp_loaded = work.seccomp_loaded,
                                       .namespaces = work.namespaces,
                                       .landlock_abi = work.landlock_abi});
  if (!done) return Fail(reporter, work.own_outcome);
  // The end of the output, before the status: the supervisor waits for both, and need not for our
  // end.
  close(STDOUT_FILENO);
  WorkerStatus status;
  status.exit_code = 0;
  status.wall_us = MonotonicMicroseconds() - work.started_us;
  status.tmp_clean = 1;  // nobody could write there
  reporter.Ended(status);
  return 0;
}

}  // namespace

int RunWorker(const Origin& origin) {
  const bool by_hand = origin.file != nullptr;
  const Reporter reporter(by_hand ? -1 : kControlFd);
  Work work(origin);
  const bool hardened = !by_hand || Harden(work.own_outcome);
  if (!hardened || !TakeOrder(work)) return Fail(reporter, work.own_outcome);
  if (IsAlone(work.spec.action)) return WorkAlone(work, reporter);
  if (!Prepare(work)) return Fail(reporter, work.own_outcome);
  return SeeToTheEnd(work, reporter);
}

}  // namespace pa::worker
