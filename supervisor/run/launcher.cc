#include "supervisor/run/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptors.h"
#include "base/finally.h"
#include "base/packet.h"
#include "base/try.h"
#include "supervisor/loop/spawn_process.h"
#include "worker/spec.h"

namespace pa {
namespace {

// A wrapper script given as --worker finds its tools; the worker itself reads no environment.
constexpr const char* kWorkerEnvironment = "PATH=/usr/local/bin:/usr/bin:/bin";

// At the end of all, when nobody is left who could be held up.
constexpr int kLastPatienceMs = 1000;

// Somebody who kills all of ours may meet the next one too. To wait once more is enough.
constexpr int kAttempts = 3;
constexpr int kAttemptsInVain = 2;

// By the kernel, of which the first may be that of a worker who was asked for ahead.
constexpr int kRefusals = 3;

// Until a launcher that is not wanted any more has answered.
constexpr std::chrono::milliseconds kSweepInterval{50};

// A policy has three programs, or a view with two networks, and more for the jobs whose network
// others share; those of the policy before it may still be wanted.
constexpr std::size_t kMaxKept = 6;
constexpr std::size_t kDescriptorsOfALauncher =
    3;  // its socket, a worker that waits, and its group

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

void Reap(pid_t pid) {
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
}

// Whether a worker that takes no order any more has said why.
bool HasWord(int control) {
  const int code = errno;
  char byte = 0;
  const bool has = ReceiveWaiting(control, {&byte, 1}, MSG_PEEK) > 0;
  errno = code;
  return has;
}

// To send says that the connection was reset, too; that launcher is as gone as any other.
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
    return a.view == b.view && a.join == b.join &&
           (a.network == Network::kFull) == (b.network == Network::kFull);
  }
  if (a.alone || b.alone) return a.alone == b.alone;
  return a.program == b.program ||
         (a.program != nullptr && b.program != nullptr && *a.program == *b.program);
}

}  // namespace

Launcher::Launcher(const Setting& setting, pid_t pid, UniqueFd socket, bool has_view)
    : loop_(setting.loop),
      groups_(setting.groups),
      depart_(setting.depart),
      has_view_(has_view),
      pid_(pid),
      socket_(std::move(socket)) {}

Result<std::shared_ptr<Launcher>> Launcher::Start(const Setting& setting, const LaunchKind& kind) {
  PA_TRY(const std::string spec, EncodeKind(kind, setting.groups != nullptr));
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    return std::unexpected(Error("socketpair", "launcher", errno));
  }
  UniqueFd ours(fds[0]);
  const UniqueFd theirs(fds[1]);
  std::string packet(sizeof worker::kLaunchMagic, '\0');
  std::memcpy(packet.data(), &worker::kLaunchMagic, packet.size());
  packet += spec;
  const int join = kind.join != nullptr ? kind.join->fd.get() : -1;
  const std::span<const int> descriptors(&join, kind.join != nullptr ? 1 : 0);
  if (SendPacket(ours.get(), packet, descriptors, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    return std::unexpected(Error("send", "launch spec", errno));
  }
  PA_TRY(const pid_t pid, setting.start(kind.view != nullptr, theirs.get()));
  std::shared_ptr<Launcher> launcher(
      new Launcher(setting, pid, std::move(ours), kind.view != nullptr));
  PA_TRY_VOID(launcher->Ask());
  return launcher;
}

// It ends when we order no more, and has then answered all that we ordered: no worker of it stays
// unknown to us.
Launcher::~Launcher() {
  if (!socket_) return;
  shutdown(socket_.get(), SHUT_WR);
  kill(pid_, SIGCONT);  // should it be stopped
  while (!owed_.empty() && Readable(socket_.get(), kLastPatienceMs) && TakeReplies(true)) {
  }
  End();
}

void Launcher::End() {
  if (!socket_) return;
  poll_.Close();
  kill(pid_, SIGKILL);  // not reaped, so the number is still its own
  (void)TakeReplies(true);
  waiting_.push_back(LaunchedWorker{.pid = std::exchange(pid_, -1), .control = {}, .group = {}});
  for (const LaunchedWorker& one : waiting_) {
    kill(one.pid, SIGKILL);
    depart_(one.pid);
  }
  waiting_.clear();
  owed_.clear();
  socket_.reset();
  // Each looks for itself, and may ask another launcher.
  for (;;) {
    const auto awaits =
        std::ranges::find_if(claims_, [](const auto* one) { return one != nullptr; });
    if (awaits == claims_.end()) return;
    std::exchange(*awaits, nullptr)->Set(true);
  }
}

Result<void> Launcher::Ask() {
  LaunchedWorker worker;
  if (groups_ != nullptr) {
    PA_TRY(CallGroup made, groups_->Make());
    worker.group.emplace(std::move(made));
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

// False: nothing is there. Whatever comes, that one is owed no more.
Result<bool> Launcher::TakeReply() {
  worker::LaunchReply reply;
  const ssize_t got = ReceiveWaiting(socket_.get(), AsWritableBytes(reply));
  if (got < 0 && errno == EAGAIN) return false;
  LaunchedWorker worker = std::move(owed_.front());
  owed_.pop_front();
  answers_ = got == static_cast<ssize_t>(sizeof reply) && reply.magic == worker::kLaunchMagic &&
             reply.pid != 0;
  if (got < 0) return std::unexpected(LauncherError("recv", errno));
  if (got == 0) return std::unexpected(LauncherError("recv", EPIPE));
  if (!answers_) {
    return std::unexpected(LauncherError("recv", EPROTO));
  }
  if (reply.pid < 0) {
    refused_ = Error("clone", "worker", -reply.pid);
    return true;
  }
  worker.pid = reply.pid;
  waiting_.push_back(std::move(worker));
  return true;
}

// Those that are there; unless `all`, no more once a worker waits.
Result<void> Launcher::TakeReplies(bool all) {
  while (!owed_.empty() && (all || waiting_.empty())) {
    PA_TRY(const bool taken, TakeReply());
    if (!taken) return {};
  }
  return {};
}

Result<void> Launcher::Watch() {
  if (!poll_) {
    PA_TRY(poll_, PollHandle::Create(loop_, socket_.get(), [this] { Serve(); }));
  }
  poll_.Start();
  return {};
}

bool Launcher::CanServe() const {
  if (!socket_ || !answers_ || claims_.empty() || claims_.front() == nullptr) return false;
  // What was refused to one, and what it could not ask for, the next one asks for by itself.
  return owed_.size() < claims_.size() || !waiting_.empty() || Readable(socket_.get(), 0);
}

// All for whom there is a reply, each of whom takes one worker. If each were served in a turn of
// the loop of its own, processors would be idle while the loop is busy with other calls. Only the
// outermost of these serves, as in RunQueue.
void Launcher::Serve() {
  if (serving_) return;
  const std::shared_ptr<Launcher> self = shared_from_this();  // who is served may give it up
  serving_ = true;
  const Finally done([this] { serving_ = false; });
  if (poll_) poll_.Stop();
  while (CanServe()) std::exchange(claims_.front(), nullptr)->Set(true);
  if (poll_ && !claims_.empty()) poll_.Start();
}

// Only the first call in the queue reads replies. Another one would take that call's worker, and
// the call could not tell this from a refusal.
Task<Result<LaunchedWorker>> Launcher::Next(std::shared_ptr<Launcher> self) {
  using std::chrono::milliseconds;
  Launcher& me = *self;
  if (me.is_awaited()) me.Serve();  // before it is our turn
  me.Reckon();
  const auto claim = me.claims_.insert(me.claims_.end(), nullptr);
  const Finally leave([&me, claim] {
    me.claims_.erase(claim);
    if (me.is_awaited()) me.Serve();
  });
  const auto deadline = std::chrono::steady_clock::now() + kLauncherPatience;
  // What was refused ahead, when nobody needed it, may be granted now.
  for (int refusals = 0;;) {
    if (!me.socket_) co_return std::unexpected(LauncherError("recv", ECANCELED));
    if (claim == me.claims_.begin()) {
      PA_CO_TRY_VOID(me.TakeReplies(false));
      if (!me.waiting_.empty()) break;
      if (me.refused_ && ++refusals == kRefusals) co_return std::unexpected(*me.refused_);
      me.refused_.reset();
    }
    while (me.owed_.size() < me.claims_.size()) {
      PA_CO_TRY_VOID(me.Ask());
    }
    const auto left =
        std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      me.answers_ = false;
      co_return std::unexpected(LauncherError("poll", ETIMEDOUT));
    }
    kill(me.pid_, SIGCONT);  // should somebody have stopped it
    PA_CO_TRY_VOID(me.Watch());
    Completion<bool> woken;
    *claim = &woken;
    TimerHandle timer(me.loop_);
    timer.Start(left, [&woken, claim] {
      *claim = nullptr;
      woken.Set(false);
    });
    [[maybe_unused]] const bool in_time = co_await woken;
  }
  LaunchedWorker worker = std::move(me.waiting_.front());
  me.waiting_.pop_front();
  co_return std::move(worker);
}

Result<void> Launcher::Order(LaunchedWorker& worker, std::span<const int> descriptors,
                             const sandbox::ResourceLimits& limits) {
  if (worker.group) {
    PA_TRY_VOID(worker.group->cgroup().Limit(GroupLimits(limits)));
  }
  if (SendOrder(worker.control.get(), descriptors) < 0 && !HasWord(worker.control.get())) {
    return std::unexpected(Error("sendmsg", "worker", errno == ECONNRESET ? EPIPE : errno));
  }
  kill(worker.pid, SIGCONT);  // should somebody have stopped it while it waited
  if (!has_view_ || in_a_burst_) AskAhead();
  return {};
}

void Launcher::Retire() {
  ahead_ = 0;
  if (!retired_) retired_ = std::chrono::steady_clock::now();
}

bool Launcher::is_overdue() const {
  return retired_ && std::chrono::steady_clock::now() - *retired_ >= kLauncherPatience;
}

// A launcher that cannot be asked is found dead by the next call.
void Launcher::AskAhead() {
  while (socket_ && owed_.size() + waiting_.size() < ahead_ + claims_.size() && Ask()) {
  }
}

// One more than were not enough, if a call of many has to wait for its worker; one for a call that
// comes alone.
void Launcher::Reckon() {
  const auto now = std::chrono::steady_clock::now();
  const bool none = owed_.empty() && waiting_.empty();
  in_a_burst_ = none || now - last_launch_ < kAskAheadAfter;
  last_launch_ = now;
  const bool late = waiting_.empty() && !owed_.empty() && !Readable(socket_.get(), 0);
  if (!in_a_burst_) {
    ahead_ = 1;
  } else if (late && ahead_ < kMaxAhead) {
    ++ahead_;
  }
}

bool Launcher::Contains(pid_t pid) const {
  return pid == pid_ || std::ranges::find(waiting_, pid, &LaunchedWorker::pid) != waiting_.end();
}

bool Launcher::owes() {
  if (claims_.empty()) (void)TakeReplies(true);
  return !owed_.empty();
}

StartLauncher StartBy(std::string worker_path) {
  return [worker_path = std::move(worker_path)](bool, int socket) {
    return SpawnProcess(worker_path, "--launch", kWorkerEnvironment, socket, worker::kLauncherFd);
  };
}

Launchers::Launchers(uv_loop_t* loop, StartLauncher start, std::function<void()> on_lost,
                     CallGroups* groups, Depart depart)
    : setting_{loop, std::move(start), groups, depart ? std::move(depart) : Reap},
      on_lost_(std::move(on_lost)) {}

Result<std::shared_ptr<Launcher>> Launchers::Find(const LaunchKind& kind) {
  if (closed_) return std::unexpected(LauncherError("launch", ECANCELED));
  RemoveRetired();
  const auto found = std::ranges::find_if(kept_, [&](const Kept& kept) {
    return !kept.launcher->is_retired() && IsSame(kept.kind, kind);
  });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return found->launcher;
  }
  PA_TRY(std::shared_ptr<Launcher> started, Launcher::Start(setting_, kind));
  // Whoever owes one goes another time: to wait for it would be to wait on the loop.
  const auto oldest = std::ranges::find_if(kept_.rbegin(), kept_.rend(), [](const Kept& kept) {
    return !kept.launcher->is_awaited() && !kept.launcher->owes();
  });
  const std::size_t most = DescriptorsAllow(kMaxKept, kDescriptorsOfALauncher);
  if (kept_.size() >= most && oldest != kept_.rend()) kept_.erase(std::next(oldest).base());
  kept_.push_front({kind, started});
  return started;
}

void Launchers::Renew() {
  for (Kept& kept : kept_) kept.launcher->Retire();
  RemoveRetired();
}

void Launchers::Retire(const CommandNetwork& network) {
  for (Kept& kept : kept_) {
    if (kept.kind.join == network) kept.launcher->Retire();
  }
  RemoveRetired();
}

// Whoever owes a worker goes another time: to wait for it would be to wait on the loop. But not
// with the next call, which may never come: it holds the mounts of its view.
void Launchers::RemoveRetired() {
  kept_.remove_if([](const Kept& kept) {
    return kept.launcher->is_retired() && !kept.launcher->is_awaited() && !kept.launcher->owes();
  });
  std::vector<std::shared_ptr<Launcher>> overdue;
  for (const Kept& kept : kept_) {
    if (kept.launcher->is_overdue() && !kept.launcher->is_awaited()) {
      overdue.push_back(kept.launcher);
    }
  }
  for (const std::shared_ptr<Launcher>& launcher : overdue) GiveUp(launcher);
  const bool none =
      std::ranges::none_of(kept_, [](const Kept& kept) { return kept.launcher->is_retired(); });
  if (none || closed_) return sweep_.reset();
  if (!sweep_) sweep_.emplace(setting_.loop);
  sweep_->Start(kSweepInterval, [this] { RemoveRetired(); });
}

void Launchers::GiveUp(const std::shared_ptr<Launcher>& launcher) {
  kept_.remove_if([&](const Kept& kept) { return kept.launcher == launcher; });
  launcher->End();
  on_lost_();
}

Task<Result<LaunchedWorker>> Launchers::Launch(LaunchKind kind, std::vector<int> descriptors,
                                               sandbox::ResourceLimits limits) {
  for (int attempt = 1;; ++attempt) {
    PA_CO_TRY(const std::shared_ptr<Launcher> launcher, Find(kind));
    Task<Result<LaunchedWorker>> task = Launcher::Next(launcher);
    Result<LaunchedWorker> worker = co_await task;
    Result<void> ordered =
        worker ? launcher->Order(*worker, descriptors, limits) : std::unexpected(worker.error());
    if (ordered) co_return std::move(*worker);
    if (worker) {
      kill(worker->pid, SIGKILL);
      setting_.depart(worker->pid);
    }
    const int code = ordered.error().sys_errno;
    // Another call has given it up: nothing was tried for this one.
    if (code == ECANCELED && !closed_) {
      --attempt;
      continue;
    }
    // Whatever it is, the next one starts afresh. Who else awaits a worker of this one has no part
    // in that.
    launcher->Retire();
    if (!launcher->is_awaited() || !launcher->answers()) GiveUp(launcher);
    RemoveRetired();
    // It had ended before, and nobody has seen the order.
    const bool again =
        (code == EPIPE && attempt < kAttempts) || (code == ETIMEDOUT && attempt < kAttemptsInVain);
    if (closed_ || !again) co_return std::unexpected(ordered.error());
  }
}

void Launchers::AskAhead() {
  if (closed_) return;
  for (Kept& kept : kept_) kept.launcher->AskAhead();
}

bool Launchers::Contains(pid_t pid) {
  return std::ranges::any_of(
      kept_, [pid](Kept& kept) { return kept.launcher->owes() || kept.launcher->Contains(pid); });
}

bool Launchers::AllKnown(bool by_force) {
  std::vector<std::shared_ptr<Launcher>> unsure;
  for (Kept& kept : kept_) {
    if (kept.launcher->owes()) unsure.push_back(kept.launcher);
  }
  if (!by_force) return unsure.empty();
  for (const std::shared_ptr<Launcher>& launcher : unsure) GiveUp(launcher);
  return true;
}

void Launchers::Close() {
  closed_ = true;
  sweep_.reset();
  std::vector<std::shared_ptr<Launcher>> awaited;
  for (Kept& kept : kept_) {
    if (kept.launcher->is_awaited()) awaited.push_back(kept.launcher);
  }
  for (const std::shared_ptr<Launcher>& launcher : awaited) launcher->End();
}

}  // namespace pa
