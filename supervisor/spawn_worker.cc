#include "supervisor/spawn_worker.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "base/file.h"
#include "worker/spec.h"

namespace pa {
namespace {

// A wrapper script given as --worker finds its tools; the worker itself reads no environment.
constexpr const char* kWorkerEnvironment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", nullptr};

// While the supervisor does something else, a command can write this much ahead. What is refused
// (an unprivileged user has a budget, pipe(7)) leaves the usual 64 KiB.
constexpr int kPipeBytes = 1 << 20;

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> OutputPipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return std::unexpected(Error("pipe2", "output", errno));
  Pipe pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
  // Ours alone: the command's side stays blocking, as every program expects.
  fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  fcntl(pipe.read.get(), F_SETPIPE_SZ, kPipeBytes);
  return pipe;
}

Result<Pipe> ControlSocket() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    return std::unexpected(Error("socketpair", "control", errno));
  }
  Pipe pair{UniqueFd(fds[0]), UniqueFd(fds[1])};
  fcntl(pair.read.get(), F_SETFL, O_NONBLOCK);
  return pair;
}

Result<UniqueFd> Stdin(const std::optional<std::string_view>& data) {
  if (data) return SealedMemfd("stdin", *data);
  UniqueFd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!fd) return std::unexpected(Error("open", "/dev/null", errno));
  return fd;
}

// Moves a descriptor out of the range that dup2 is about to fill: neither is a source overwritten
// before its turn, nor does a dup2 onto itself leave close-on-exec set.
Result<void> Lift(UniqueFd& fd) {
  if (fd.get() >= worker::kFirstStray) return {};
  UniqueFd lifted(fcntl(fd.get(), F_DUPFD_CLOEXEC, worker::kFirstStray));
  if (!lifted)
    return std::unexpected(Error("fcntl F_DUPFD_CLOEXEC", std::to_string(fd.get()), errno));
  fd = std::move(lifted);
  return {};
}

Result<UniqueFd> Borrowed(int fd) {
  UniqueFd copy(fcntl(fd, F_DUPFD_CLOEXEC, worker::kFirstStray));
  if (!copy) return std::unexpected(Error("fcntl F_DUPFD_CLOEXEC", std::to_string(fd), errno));
  return copy;
}

// The child's descriptors by number; index = number. Empty: closed in the child.
using ChildFds = std::array<UniqueFd, worker::kFirstStray>;

struct Actions {
  Actions() { posix_spawn_file_actions_init(&value); }
  ~Actions() { posix_spawn_file_actions_destroy(&value); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  posix_spawn_file_actions_t value;
};

struct Attributes {
  // Ignored signals and the mask survive execve, and libuv and our parents may have set either.
  Attributes() {
    posix_spawnattr_init(&value);
    sigset_t set;
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&value, &set);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&value, &set);
    posix_spawnattr_setflags(&value, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~Attributes() { posix_spawnattr_destroy(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  posix_spawnattr_t value;
};

Result<pid_t> Spawn(const std::string& path, const ChildFds& fds) {
  Actions actions;
  for (int target = 0; target < worker::kFirstStray; ++target) {
    const int source = fds[static_cast<std::size_t>(target)].get();
    const int code = source >= 0 ? posix_spawn_file_actions_adddup2(&actions.value, source, target)
                                 : posix_spawn_file_actions_addclose(&actions.value, target);
    if (code != 0) return std::unexpected(Error("posix_spawn_file_actions", path, code));
  }
  Attributes attributes;
  const char* argv[] = {path.c_str(), nullptr};
  pid_t pid = -1;
  const int code = posix_spawn(&pid, path.c_str(), &actions.value, &attributes.value,
                               const_cast<char**>(argv), const_cast<char**>(kWorkerEnvironment));
  if (code != 0) return std::unexpected(Error("posix_spawn", path, code));
  return pid;
}

}  // namespace

Result<SpawnedWorker> SpawnWorker(const SpawnOrder& order) {
  Result<UniqueFd> spec = SealedMemfd("spec", order.spec);
  if (!spec) return std::unexpected(spec.error());
  Result<UniqueFd> in = Stdin(order.stdin_data);
  if (!in) return std::unexpected(in.error());
  Result<Pipe> out = OutputPipe();
  if (!out) return std::unexpected(out.error());
  Result<Pipe> err = OutputPipe();
  if (!err) return std::unexpected(err.error());
  Result<Pipe> control = ControlSocket();
  if (!control) return std::unexpected(control.error());
  Result<UniqueFd> cwd = Borrowed(order.cwd);
  if (!cwd) return std::unexpected(cwd.error());
  Result<UniqueFd> ruleset = order.ruleset >= 0 ? Borrowed(order.ruleset) : UniqueFd();
  if (!ruleset) return std::unexpected(ruleset.error());

  ChildFds fds{std::move(*in),     std::move(out->write),     std::move(err->write),
               std::move(*spec),   std::move(control->write), std::move(*cwd),
               std::move(*ruleset)};
  for (UniqueFd& fd : fds) {
    if (!fd) continue;
    const Result<void> lifted = Lift(fd);
    if (!lifted) return std::unexpected(lifted.error());
  }
  const Result<pid_t> pid = Spawn(order.worker_path, fds);
  if (!pid) return std::unexpected(pid.error());
  return SpawnedWorker{*pid, std::move(control->read), std::move(out->read), std::move(err->read)};
}

}  // namespace pa
