#include "supervisor/spawner/start_helper.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/pack.h"
#include "base/try.h"
#include "sandbox/landlock.h"
#include "sandbox/prepared.h"
#include "supervisor/janitor/janitor_wire.h"
#include "worker/protocol.h"
#include "worker/spec.h"

namespace pa {
namespace {

// A wrapper script given as --worker finds its tools; the worker itself reads no environment.
constexpr const char* kWorkerEnvironment = "PATH=/usr/local/bin:/usr/bin:/bin";
constexpr std::size_t kMaxError = 8192;

// Why the child did not get as far as its program.
using Failure = std::pair<std::string, std::pair<std::string, int>>;

// posix_spawn(3) resets nothing of what we ignore unless it is told to.
void ResetSignals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action{};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

Result<void> Check(const char* what, int result) {
  if (result >= 0) return {};
  return std::unexpected(Error(what, "helper", errno));
}

Result<UniqueFd> CeilingFile(Helper helper, const Bounds& bounds) {
  const bool views = helper == Helper::kViews;
  const worker::CeilingSpec spec{
      .views = views,
      .paths = views ? GrantsOfCommands(bounds) : std::vector<sandbox::PathGrant>(),
      .network = bounds.ceiling.network,
      .limits = bounds.ceiling.limits,
      .programs = views ? bounds.ceiling.view_programs : bounds.ceiling.programs};
  PA_TRY(const std::string bytes, worker::EncodeCeiling(spec));
  return SealedMemfd("ceiling", bytes);
}

// A Landlock domain forbids to mount, so whoever makes views gets the ceiling alone.
Result<void> Confine(Helper helper, const Bounds& bounds) {
  if (helper == Helper::kViews) return {};
  const bool janitor = helper == Helper::kJanitor;
  const sandbox::LandlockSupport kernel = sandbox::DetectLandlock();
  if (kernel.abi < 1) return std::unexpected(Error("landlock", "helper", kernel.sys_errno));
  // It could not put back what commands have moved (Linux before 5.19).
  if (janitor && kernel.abi < 2) return {};
  const sandbox::Confinement most{
      .paths = janitor ? GrantsOfChores(bounds) : GrantsOfCommands(bounds),
      .network = janitor ? sandbox::Network::kNone : bounds.ceiling.network};
  PA_TRY(const sandbox::PreparedSandbox prepared, sandbox::PrepareLandlock(most, kernel.abi));
  PA_TRY_VOID(Check("no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)));
  PA_TRY_VOID(sandbox::Enforce(prepared.landlock_ruleset.get()));
  return {};
}

// 0, 1, 3 and 4 become what the helper has there. Both are higher by now.
Result<void> PlaceDescriptors(Helper helper, int socket, const UniqueFd& ceiling) {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  PA_TRY_VOID(Check("open /dev/null", null.get()));
  PA_TRY_VOID(Check("dup2", dup2(null.get(), STDIN_FILENO)));
  PA_TRY_VOID(Check("dup2", dup2(null.get(), STDOUT_FILENO)));
  static_assert(kJanitorFd == worker::kLauncherFd);
  PA_TRY_VOID(Check("dup2", dup2(socket, kJanitorFd)));
  if (helper == Helper::kJanitor) return {};
  return Check("dup2", dup2(ceiling.get(), worker::kCeilingFd));
}

Result<void> Become(Helper helper, int socket, const std::function<Result<Bounds>()>& read) {
  ResetSignals();
  PA_TRY(const Bounds bounds, read());
  PA_TRY_VOID(Check("chdir", chdir("/")));
  UniqueFd ceiling;
  if (helper != Helper::kJanitor) {
    PA_TRY(ceiling, CeilingFile(helper, bounds));
  }
  // Out of the way of each other's numbers.
  const UniqueFd ceiling_above(fcntl(ceiling.get(), F_DUPFD_CLOEXEC, worker::kFirstStray));
  const UniqueFd socket_above(fcntl(socket, F_DUPFD_CLOEXEC, worker::kFirstStray));
  PA_TRY_VOID(Check("fcntl", socket_above.get()));
  PA_TRY_VOID(PlaceDescriptors(helper, socket_above.get(), ceiling_above));
  PA_TRY_VOID(Confine(helper, bounds));
  const bool janitor = helper == Helper::kJanitor;
  const char* path = janitor ? "/proc/self/exe" : bounds.worker.c_str();
  const char* argv[] = {path, janitor ? kJanitorOption : "--launch-within", nullptr};
  const char* environment[] = {janitor ? nullptr : kWorkerEnvironment, nullptr};
  execve(path, const_cast<char**>(argv), const_cast<char**>(environment));
  return std::unexpected(Error("execve", path, errno));
}

std::optional<Error> FailureIn(int pipe) {
  std::string text(kMaxError, '\0');
  ssize_t got = 0;
  do {
    got = read(pipe, text.data(), text.size());
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(got));
  Failure failure;
  if (!Unpacker(text)(failure)) return Error("start", "helper", EBADMSG);
  return Error(failure.first, failure.second.first, failure.second.second);
}

}  // namespace

Started StartHelper(Helper helper, int socket, const std::function<Result<Bounds>()>& bounds) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return {.error = Error("pipe2", "helper", errno)};
  const UniqueFd ours(fds[0]);
  UniqueFd theirs(fcntl(fds[1], F_DUPFD_CLOEXEC, worker::kFirstStray));
  close(fds[1]);
  // The server stays the parent of all that work for it. (clone(2): with CLONE_PARENT the signal at
  // the end is our own.)
  const auto pid =
      static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (pid < 0) return {.error = Error("clone", "helper", errno)};
  if (pid == 0) {
    const Result<void> become = Become(helper, socket, bounds);
    const Error& error = become.error();
    const std::string text = Pack(Failure(error.op, {error.subject, error.sys_errno}));
    static_cast<void>(WriteAll(theirs.get(), text));
    _exit(1);
  }
  theirs.reset();
  return {.pid = pid, .error = FailureIn(ours.get())};
}

}  // namespace pa
