#include "worker/guardian.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <limits>

#include "base/packet.h"
#include "base/unique_fd.h"
#include "worker/faults.h"

namespace pa::worker {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t kFirstSampleMs = 50;  // short commands pay nothing
constexpr std::uint64_t kSampleMs = 100;
constexpr std::uint64_t kSampleCostFactor = 20;  // at most 5 % of a core for looking

constexpr std::uint64_t kDrainMs = 50;        // for what ends by itself when the command has
constexpr std::uint64_t kStrayGraceMs = 100;  // between SIGTERM and SIGKILL; the reply waits for it
constexpr std::uint64_t kKillAgainMs = 20;
constexpr std::uint64_t kGiveUpMs = 10'000;  // uninterruptible sleep: nobody can end that

std::uint64_t Microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(time.tv_usec);
}

std::uint64_t Later(std::uint64_t now, std::uint64_t by) {
  return by > kNever - now ? kNever : now + by;
}

// By the proc of our own namespace, in which we are the first process; a process may always open
// what is its own (ptrace(2), "Ptrace access mode checking").
SysResult<UniqueFd> OwnNetwork() {
  UniqueFd network(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!network) return std::unexpected(SysError{"open", "network", errno});
  return network;
}

// A connect on the loopback succeeds or fails at once, unless the server is behind with accepting;
// then the socket is handed out as it is.
constexpr int kConnectMs = 20;

SysResult<UniqueFd> Connected(const sockaddr* address, socklen_t size) {
  UniqueFd socket_fd(socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_fd) return std::unexpected(SysError{"socket", {}, errno});
  if (connect(socket_fd.get(), address, size) != 0 && errno != EINPROGRESS) {
    return std::unexpected(SysError{"connect", {}, errno});
  }
  pollfd connected = {socket_fd.get(), POLLOUT, 0};
  int failed = 0;
  socklen_t length = sizeof(failed);
  if (poll(&connected, 1, kConnectMs) == 1) {
    getsockopt(socket_fd.get(), SOL_SOCKET, SO_ERROR, &failed, &length);
  }
  if (failed != 0) return std::unexpected(SysError{"connect", {}, failed});
  return socket_fd;
}

// A server that listens on `localhost` may have taken either address.
SysResult<UniqueFd> SocketTo(std::uint16_t port) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto connected = Connected(reinterpret_cast<sockaddr*>(&four), sizeof(four));
  if (connected || connected.error().sys_errno != ECONNREFUSED) return connected;
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  six.sin6_addr.s6_addr[15] = 1;
  return Connected(reinterpret_cast<sockaddr*>(&six), sizeof(six));
}

SysResult<UniqueFd> Give(const AskOrder& order) {
  if (order.ask == Ask::kNetwork) return OwnNetwork();
  if (order.ask == Ask::kSocket) return SocketTo(order.port);
  return std::unexpected(SysError{"give", "unknown order", EINVAL});
}

// The command's own death by a limit that the kernel keeps.
Limit LimitOfSignal(int signal) {
  if (signal == SIGXCPU) return Limit::kCpuTime;
  if (signal == SIGXFSZ) return Limit::kFileSize;
  return Limit::kNone;
}

}  // namespace

std::uint64_t MonotonicMicroseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

bool IsSampled(const sandbox::ResourceLimits& limits) {
  return limits.memory_bytes != 0 || limits.processes != 0 || limits.cpu_seconds != 0;
}

Guardian::Guardian(const Watch& watch, ProcessTree& tree)
    : watch_(watch),
      tree_(tree),
      control_fd_(watch.control_fd),
      phase_ends_(watch.limits.wall_time_ms == 0 ? kNever : watch.limits.wall_time_ms),
      next_sample_(IsSampled(watch.limits) ? kFirstSampleMs : kNever) {
  status_.kind = StatusKind::kEnded;
}

Guardian::End Guardian::Run() {
  while (tree_alive_ && phase_ != Phase::kGivenUp) {
    WaitForEvents();
    if (Now() >= next_sample_) Measure();
    if (Now() >= phase_ends_) Advance();
  }
  return {Summary(), orphaned_};
}

std::uint64_t Guardian::Now() const { return (MonotonicMicroseconds() - watch_.started_us) / 1000; }

int Guardian::MillisecondsToWait() const {
  const std::uint64_t next = std::min(phase_ends_, next_sample_);
  if (next == kNever) return -1;
  const std::uint64_t now = Now();
  if (next <= now) return 0;
  return static_cast<int>(std::min<std::uint64_t>(next - now, INT_MAX));
}

void Guardian::WaitForEvents() {
  pollfd events[] = {{watch_.signal_fd, POLLIN, 0}, {control_fd_, POLLIN, 0}};
  if (poll(events, 2, MillisecondsToWait()) <= 0) return;
  if (events[1].revents != 0) ReadControl();
  if (events[0].revents != 0) ReadSignals();
}

void Guardian::ReadControl() {
  AskOrder order;
  const ssize_t got = recv(control_fd_, &order, sizeof(order), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) {
    if (got != sizeof(order)) return;
    if (order.ask == Ask::kCancel) return Cancel();
    return Answer(order);
  }
  control_fd_ = -1;  // hang-up: nobody is left who could want the command
  orphaned_ = true;
  Kill(EndReason::kCancelled);
}

void Guardian::Answer(const AskOrder& order) const {
  if (control_fd_ < 0) return;
  const SysResult<UniqueFd> given =
      watch_.namespaces ? Give(order) : std::unexpected(SysError{"give", "no network", ENOTSUP});
  const WorkerStatus status{.kind = StatusKind::kGiven,
                            .sys_errno = given ? 0 : given.error().sys_errno};
  const int descriptor = given ? given->get() : -1;
  SendPacket(control_fd_, AsBytes(status), {&descriptor, given ? 1u : 0u},
             MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Guardian::ReadSignals() {
  signalfd_siginfo signals[8];
  const ssize_t got = read(watch_.signal_fd, signals, sizeof(signals));
  for (std::size_t i = 0; got > 0 && i < static_cast<std::size_t>(got) / sizeof(*signals); ++i) {
    // Within the namespace nobody but the command's own tree can have sent it: who is outside has
    // no number here.
    const bool from_tree = watch_.namespaces && signals[i].ssi_pid != 0;
    if (signals[i].ssi_signo != SIGCHLD && !from_tree) Cancel();
  }
  Reap();
}

void Guardian::Reap() {
  for (;;) {
    int wait_status = 0;
    const pid_t pid = waitpid(-1, &wait_status, WNOHANG);
    if (pid == watch_.command) NoteExit(wait_status);
    if (pid > 0 && pid != watch_.command && !command_alive_ && signalled_) ++status_.strays_killed;
    if (pid < 0 && errno == ECHILD) tree_alive_ = false;  // orphans are ours: nobody is left
    if (pid <= 0) break;
  }
  if (tree_alive_ && !command_alive_ && phase_ == Phase::kRunning)
    Enter(Phase::kDraining, kDrainMs * Patience());
}

void Guardian::NoteExit(int wait_status) {
  command_alive_ = false;
  status_.wall_us = MonotonicMicroseconds() - watch_.started_us;
  const bool by_itself = phase_ == Phase::kRunning;
  if (WIFEXITED(wait_status)) {
    status_.exit_code = WEXITSTATUS(wait_status);
    if (by_itself) status_.reason = EndReason::kExited;
    return;
  }
  status_.term_signal = WTERMSIG(wait_status);
  if (!by_itself) return;
  status_.limit = LimitOfSignal(status_.term_signal);
  status_.reason = status_.limit == Limit::kNone ? EndReason::kSignaled : EndReason::kLimitExceeded;
}

void Guardian::Measure() {
  const std::uint64_t before = Now();
  const ProcessTree::Use use = tree_.Measure();
  const sandbox::ResourceLimits& limits = watch_.limits;
  const bool memory = limits.memory_bytes != 0 && use.memory_bytes > limits.memory_bytes;
  const bool processes = limits.processes != 0 && use.processes > limits.processes;
  const bool cpu = limits.cpu_seconds != 0 && use.cpu_ms >= limits.cpu_seconds * 1000;
  if (memory || processes || cpu) {
    const Limit limit = memory ? Limit::kMemory : processes ? Limit::kProcesses : Limit::kCpuTime;
    if (phase_ == Phase::kRunning) status_.limit = limit;
    return Kill(EndReason::kLimitExceeded);
  }
  next_sample_ = Now() + std::max(kSampleMs, kSampleCostFactor * (Now() - before));
}

// The present phase is over and something still lives.
void Guardian::Advance() {
  switch (phase_) {
    case Phase::kRunning:
      return EndPolitely(EndReason::kTimedOut, watch_.limits.grace_ms);
    case Phase::kDraining:
      return EndPolitely(status_.reason, kStrayGraceMs);
    case Phase::kTerminating:
    case Phase::kKilling:
      return Kill(status_.reason);
    case Phase::kGivenUp:
      return;
  }
}

void Guardian::Cancel() {
  if (phase_ == Phase::kRunning) EndPolitely(EndReason::kCancelled, watch_.limits.grace_ms);
}

void Guardian::EndPolitely(EndReason reason, std::uint64_t grace_ms) {
  status_.reason = reason;
  Enter(Phase::kTerminating, grace_ms);
  Signal(SIGTERM);
  Signal(SIGCONT);  // what is stopped can only end politely when it runs
}

void Guardian::Kill(EndReason reason) {
  if (phase_ == Phase::kRunning) status_.reason = reason;
  if (phase_ != Phase::kKilling) kill_began_ = Now();
  next_sample_ = kNever;
  Enter(Phase::kKilling, kKillAgainMs);
  Signal(SIGKILL);
  if (Now() - kill_began_ > kGiveUpMs) phase_ = Phase::kGivenUp;
}

void Guardian::Signal(int signal) {
  signalled_ = true;
  tree_.Signal(signal, command_alive_ ? watch_.command : 0);
}

void Guardian::Enter(Phase phase, std::uint64_t lasts_ms) {
  phase_ = phase;
  phase_ends_ = Later(Now(), lasts_ms);
}

WorkerStatus Guardian::Summary() const {
  WorkerStatus status = status_;
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  status.user_us = Microseconds(usage.ru_utime);
  status.system_us = Microseconds(usage.ru_stime);
  status.max_rss_kib = static_cast<std::uint64_t>(usage.ru_maxrss);
  status.survivors = tree_alive_ ? 1 : 0;
  return status;
}

}  // namespace pa::worker
