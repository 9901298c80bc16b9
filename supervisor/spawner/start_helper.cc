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

// Of what all its orders stay within. Empty: there is none.
Result<UniqueFd> RulesetFor(Helper helper, const Bounds& bounds) {
  // A Landlock domain forbids to mount, so whoever makes views gets the ceiling alone.
  if (helper == Helper::kViews) return UniqueFd();
  const bool janitor = helper == Helper::kJanitor;
  const sandbox::LandlockSupport kernel = sandbox::DetectLandlock();
  // Its workers run nothing, and say why.
  if (kernel.abi < 1 && !janitor) return UniqueFd();
  if (kernel.abi < 1) return std::unexpected(Error("landlock", "helper", kernel.sys_errno));
  // It could not put back what commands have moved (Linux before 5.19).
  if (janitor && kernel.abi < 2) return UniqueFd();
  const sandbox::Confinement most{
      .paths = janitor ? GrantsOfChores(bounds) : GrantsOfCommands(bounds),
      .network = janitor ? sandbox::Network::kNone : bounds.ceiling.network};
  PA_TRY(sandbox::PreparedSandbox prepared, sandbox::PrepareLandlock(most, kernel.abi));
  return std::move(prepared.landlock_ruleset);
}

// Out of the way of the numbers that a helper has its descriptors at.
UniqueFd Above(int fd) { return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, worker::kFirstStray)); }

Result<void> Place(int fd, int number) { return Check("dup2", dup2(fd, number)); }

// The worker enters the domain itself, since a script may stand before it (--worker). What serves
// the janitor is our own executable.
Result<void> EnterOrPass(Helper helper, const UniqueFd& ruleset) {
  if (!ruleset) return {};
  if (helper != Helper::kJanitor) return Place(ruleset.get(), worker::kCeilingRulesetFd);
  PA_TRY_VOID(Check("no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)));
  PA_TRY_VOID(sandbox::Enforce(ruleset.get()));
  return {};
}

Result<void> Become(Helper helper, int socket, const std::function<Result<Bounds>()>& read) {
  ResetSignals();
  PA_TRY(const Bounds bounds, read());
  PA_TRY_VOID(Check("chdir", chdir("/")));
  const bool janitor = helper == Helper::kJanitor;
  const UniqueFd socket_above = Above(socket);
  PA_TRY(const UniqueFd made, RulesetFor(helper, bounds));
  const UniqueFd ruleset = Above(made.get());
  UniqueFd ceiling;
  if (!janitor) {
    PA_TRY(const UniqueFd file, CeilingFile(helper, bounds));
    ceiling = Above(file.get());
  }
  const UniqueFd opened(open("/dev/null", O_RDWR | O_CLOEXEC));
  PA_TRY_VOID(Check("open /dev/null", opened.get()));
  const UniqueFd null = Above(opened.get());
  PA_TRY_VOID(Place(null.get(), STDIN_FILENO));
  PA_TRY_VOID(Place(null.get(), STDOUT_FILENO));
  static_assert(kJanitorFd == worker::kLauncherFd);
  PA_TRY_VOID(Place(socket_above.get(), kJanitorFd));
  if (!janitor) PA_TRY_VOID(Place(ceiling.get(), worker::kCeilingFd));
  PA_TRY_VOID(EnterOrPass(helper, ruleset));
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
