#include "supervisor/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/packet.h"
#include "worker/spec.h"

namespace pa {
namespace {

// A wrapper script given as --worker finds its tools; the worker itself reads no environment.
constexpr const char* kWorkerEnvironment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", nullptr};

// A launcher does nothing between order and reply that could take so long; one that was stopped must
// not stop us. The first order waits for its start too.
constexpr int kPatienceMs = 5000;

// A policy has three programs, or a view with two networks; those of the policy before it may still be
// wanted.
constexpr std::size_t kMaxKept = 6;

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

// The socket and nothing of ours beside it but stderr, where a wrapper script can say what is wrong.
Result<pid_t> Spawn(const std::string& path, int socket) {
  Actions actions;
  const std::array codes = {
      posix_spawn_file_actions_adddup2(&actions.value, socket, worker::kLauncherFd),
      posix_spawn_file_actions_addopen(&actions.value, 0, "/dev/null", O_RDONLY, 0),
      posix_spawn_file_actions_addopen(&actions.value, 1, "/dev/null", O_WRONLY, 0)};
  for (const int code : codes) {
    if (code != 0) return std::unexpected(Error("posix_spawn_file_actions", path, code));
  }
  Attributes attributes;
  const char* argv[] = {path.c_str(), "--launch", nullptr};
  pid_t pid = -1;
  const int code = posix_spawn(&pid, path.c_str(), &actions.value, &attributes.value,
                               const_cast<char**>(argv), const_cast<char**>(kWorkerEnvironment));
  if (code != 0) return std::unexpected(Error("posix_spawn", path, code));
  return pid;
}

ssize_t SendOrder(int socket, std::span<const int> descriptors) {
  const worker::LaunchOrder order;
  return SendPacket(socket, AsBytes(order), descriptors, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool Readable(int fd, int timeout_ms) {
  pollfd readable = {fd, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&readable, 1, timeout_ms);
  } while (ready < 0 && errno == EINTR);
  return ready == 1;
}

// A child of ours that has nothing to lose. Not reaped, so the number is still its own.
void KillAndReap(pid_t pid) {
  kill(pid, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
}

// Whether a worker that takes no order any more has said why.
bool HasWord(int control) {
  const int code = errno;
  char byte = 0;
  const bool has = recv(control, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  errno = code;
  return has;
}

// A launcher that died with an order unread resets the connection; it is as gone as any other.
Error LauncherError(const char* op, int code) {
  return {op, "worker launcher", code == ECONNRESET ? EPIPE : code};
}

Result<std::string> EncodeKind(const LaunchKind& kind, bool cgroups) {
  worker::LaunchSpec spec;
  spec.cgroups = cgroups;
  if (kind.view != nullptr) {
    spec.namespaces = true;
    spec.network = kind.network;
    spec.view = kind.view->mounts;
  } else if (kind.program != nullptr && !kind.program->empty()) {
    spec.seccomp_program = *kind.program;
  } else if (!kind.alone) {
    return std::unexpected(Error("launch", "a worker without a seccomp program", EINVAL));
  }
  return worker::EncodeLaunch(spec);
}

// The network is a launcher's own where it has no namespace for it.
bool IsSame(const LaunchKind& a, const LaunchKind& b) {
  using sandbox::Network;
  if (a.view != nullptr || b.view != nullptr) {
    return a.view == b.view && (a.network == Network::kFull) == (b.network == Network::kFull);
  }
  if (a.alone || b.alone) return a.alone == b.alone;
  return a.program == b.program ||
         (a.program != nullptr && b.program != nullptr && *a.program == *b.program);
}

}  // namespace

Result<Launcher> Launcher::Start(const std::string& worker_path, const LaunchKind& kind,
                                 CallGroups* groups) {
  const Result<std::string> spec = EncodeKind(kind, groups != nullptr);
  if (!spec) return std::unexpected(spec.error());
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    return std::unexpected(Error("socketpair", "launcher", errno));
  }
  UniqueFd ours(fds[0]);
  const UniqueFd theirs(fds[1]);
  std::string packet(sizeof worker::kLaunchMagic, '\0');
  std::memcpy(packet.data(), &worker::kLaunchMagic, packet.size());
  packet += *spec;
  if (send(ours.get(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    return std::unexpected(Error("send", "launch spec", errno));
  }
  const Result<pid_t> pid = Spawn(worker_path, theirs.get());
  if (!pid) return std::unexpected(pid.error());
  Launcher launcher(*pid, std::move(ours), groups, kind.view != nullptr);
  const Result<void> asked = launcher.Ask();
  if (!asked) return std::unexpected(asked.error());
  return launcher;
}

// It ends when we order no more, and has then answered all that we ordered: no worker of it stays
// unknown to us.
Launcher::~Launcher() {
  if (!socket_) return;
  shutdown(socket_.get(), SHUT_WR);
  if (pid_ > 0) kill(pid_, SIGCONT);  // should it be stopped
  while (!owed_.empty()) (void)AwaitReply();
  for (const LaunchedWorker& worker : waiting_) KillAndReap(worker.pid);
  Kill();
}

void Launcher::Kill() {
  if (pid_ > 0) KillAndReap(std::exchange(pid_, -1));
}

Result<void> Launcher::Ask() {
  LaunchedWorker worker;
  if (groups_ != nullptr) {
    Result<CallGroup> made = groups_->Make();
    if (!made) return std::unexpected(made.error());
    worker.group.emplace(std::move(*made));
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return std::unexpected(Error("socketpair", "control", errno));
  }
  worker.control.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  const std::array fds = {theirs.get(), worker.group ? worker.group->cgroup().directory() : -1};
  if (SendOrder(socket_.get(), std::span(fds).first(worker.group ? 2 : 1)) < 0) {
    return std::unexpected(LauncherError("sendmsg", errno));
  }
  owed_.push_back(std::move(worker));
  return {};
}

// Whatever comes, or does not come, that one is owed no more.
Result<void> Launcher::AwaitReply() {
  LaunchedWorker worker = std::move(owed_.front());
  owed_.pop_front();
  if (!Readable(socket_.get(), pid_ > 0 ? kPatienceMs : 0)) {
    Kill();
    return std::unexpected(LauncherError("poll", ETIMEDOUT));
  }
  worker::LaunchReply reply;
  const ssize_t got = recv(socket_.get(), &reply, sizeof reply, MSG_DONTWAIT);
  if (got < 0) return std::unexpected(LauncherError("recv", errno));
  if (got == 0) return std::unexpected(LauncherError("recv", EPIPE));
  if (got != sizeof reply || reply.magic != worker::kLaunchMagic || reply.pid == 0) {
    return std::unexpected(LauncherError("recv", EPROTO));
  }
  if (reply.pid < 0) return std::unexpected(Error("clone", "worker", -reply.pid));
  worker.pid = reply.pid;
  waiting_.push_back(std::move(worker));
  return {};
}

// What was refused ahead, when nobody needed it, may be granted now.
Result<void> Launcher::AwaitWorker() {
  while (waiting_.empty() && !owed_.empty()) {
    const Result<void> ahead = AwaitReply();
    if (!ahead && pid_ < 0) return ahead;
  }
  if (!waiting_.empty()) return {};
  const Result<void> asked = Ask();
  return asked ? AwaitReply() : asked;
}

Result<LaunchedWorker> Launcher::Launch(std::span<const int> descriptors,
                                        const sandbox::ResourceLimits& limits) {
  const auto now = std::chrono::steady_clock::now();
  const bool none = owed_.empty() && waiting_.empty();
  const bool in_a_burst = none || now - last_launch_ < kAskAheadAfter;
  last_launch_ = now;
  Reckon(in_a_burst);
  const Result<void> there = AwaitWorker();
  if (!there) return std::unexpected(there.error());
  LaunchedWorker worker = std::move(waiting_.front());
  waiting_.pop_front();
  const Result<void> limited =
      worker.group ? worker.group->cgroup().Limit(GroupLimits(limits)) : Result<void>();
  if (!limited) {
    KillAndReap(worker.pid);
    return std::unexpected(limited.error());
  }
  if (SendOrder(worker.control.get(), descriptors) < 0 && !HasWord(worker.control.get())) {
    const int code = errno;
    KillAndReap(worker.pid);
    return std::unexpected(Error("sendmsg", "worker", code == ECONNRESET ? EPIPE : code));
  }
  kill(worker.pid, SIGCONT);  // should somebody have stopped it while it waited
  if (!has_view_ || in_a_burst) AskAhead();
  return worker;
}

// A launcher that cannot be asked is found dead by the next call.
void Launcher::AskAhead() {
  while (owed_.size() + waiting_.size() < ahead_ && Ask()) {
  }
}

// One more than were not enough, if a call of many has to wait for its worker; one for a call that comes
// alone.
void Launcher::Reckon(bool in_a_burst) {
  const bool late = waiting_.empty() && !owed_.empty() && !Readable(socket_.get(), 0);
  if (!in_a_burst) {
    ahead_ = 1;
  } else if (late && ahead_ < kMaxAhead) {
    ++ahead_;
  }
}

bool Launcher::Contains(pid_t pid) {
  while (!owed_.empty()) (void)AwaitReply();
  return pid == pid_ || std::ranges::find(waiting_, pid, &LaunchedWorker::pid) != waiting_.end();
}

Result<Launcher*> Launchers::Find(const LaunchKind& kind) {
  const auto found =
      std::ranges::find_if(kept_, [&](const Kept& kept) { return IsSame(kept.kind, kind); });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return &kept_.front().launcher;
  }
  Result<Launcher> started = Launcher::Start(worker_path_, kind, groups_);
  if (!started) return std::unexpected(started.error());
  if (kept_.size() == kMaxKept) kept_.pop_back();
  kept_.emplace_front(kind, std::move(*started));
  return &kept_.front().launcher;
}

Result<LaunchedWorker> Launchers::Launch(const LaunchKind& kind, std::span<const int> descriptors,
                                         const sandbox::ResourceLimits& limits) {
  for (int attempt = 0;; ++attempt) {
    const Result<Launcher*> launcher = Find(kind);
    if (!launcher) return std::unexpected(launcher.error());
    Result<LaunchedWorker> worker = (*launcher)->Launch(descriptors, limits);
    if (worker) return worker;
    kept_.pop_front();  // whatever it is, the next one starts afresh
    on_lost_();
    // It had ended before, and nobody has seen the order.
    if (worker.error().sys_errno != EPIPE || attempt > 0) return worker;
  }
}

void Launchers::AskAhead() {
  for (Kept& kept : kept_) kept.launcher.AskAhead();
}

bool Launchers::Contains(pid_t pid) {
  return std::ranges::any_of(kept_, [pid](Kept& kept) { return kept.launcher.Contains(pid); });
}

}  // namespace pa
