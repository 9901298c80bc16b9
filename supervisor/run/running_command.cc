#include "supervisor/run/running_command.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <thread>
#include <utility>

#include "base/try.h"

namespace pa {
namespace {

using std::chrono::milliseconds;

// The guardian keeps the time; if it is still silent so long after, it never will speak.
constexpr milliseconds kGuardianSlack{5000};
// For what is left once the tree is dead: the rest of a pipe, or a pipe that an outsider holds.
constexpr milliseconds kDrainTime{1000};
constexpr milliseconds kHuntInterval{10};
constexpr int kMaxHunts = 500;
// A child that nobody knows may be a worker that a launcher is just about to tell of.
constexpr int kHuntsInDoubt = 50;
constexpr milliseconds kBulkInterval{5};
constexpr int kYields = 100;
constexpr milliseconds kReapInterval{1};

// What a pipe holds as it is made (pipe(7)), and with room to write ahead while we do something
// else. Most commands never fill the former, and the latter costs ten kilobytes of bookkeeping.
constexpr ssize_t kPipeBytes = 64 << 10;
constexpr int kWidePipeBytes = 1 << 20;

constexpr int kWaitsForDeath = 20;

constexpr milliseconds kCpuLook{100};

// The guardian does nothing else meanwhile, unless somebody has stopped it.
constexpr std::chrono::seconds kPatience{5};

Error NotGiven(int code) { return {"ask", "the command's network", code}; }

}  // namespace

RunningCommand::RunningCommand(RunningContext& context, SpawnedWorker worker,
                               RunningOptions options)
    : context_(context),
      worker_(std::move(worker)),
      wall_time_(options.wall_time),
      grace_(options.grace),
      cpu_time_(options.cpu_time),
      alone_(options.alone),
      sink_(options.sink),
      delivery_(options.delivery),
      out_{Stream::kStdout, worker_.fds().out.get(), std::move(options.out), false, {}},
      err_{Stream::kStderr, worker_.fds().err.get(), std::move(options.err), false, {}},
      deadline_(context.loop),
      bulk_(context.loop),
      reap_(context.loop),
      hunt_(context.loop),
      cpu_(context.loop),
      patience_(context.loop) {}

// The polls must go before the descriptors, which worker_ closes.
RunningCommand::~RunningCommand() {
  TellNobody(ESRCH);
  for (PollHandle* poll : {&out_.poll, &err_.poll, &control_}) poll->Close();
}

Result<void> RunningCommand::Start() {
  Result<void> begun = Begin();
  if (begun) return begun;
  End(out_);
  End(err_);
  HangUp();
  OnHangUp();
  return begun;
}

Result<void> RunningCommand::Begin() {
  const SpawnedWorker& fds = worker_.fds();
  PA_TRY(control_, PollHandle::Create(context_.loop, fds.control.get(), [this] { OnControl(); }));
  control_.Start();
  for (Pipe* pipe : {&out_, &err_}) {
    pipe->open = pipe->fd >= 0;
    if (delivery_ == Delivery::kInBulk) Widen(*pipe);
    if (delivery_ == Delivery::kLive) {
      PA_TRY_VOID(Watch(*pipe));
    }
  }
  if (delivery_ != Delivery::kLive) bulk_.Start(kBulkInterval, [this] { OnBulkTime(); });
  if (wall_time_.count() > 0) {
    deadline_.Start(wall_time_ + grace_ + kGuardianSlack, [this] { OnOverdue(); });
  }
  if (cpu_time_.count() > 0 && fds.group) LookAgainAfter(std::chrono::microseconds(0));
  return {};
}

Result<void> RunningCommand::Watch(Pipe& pipe) {
  if (!pipe.open) return {};
  if (!pipe.poll) {
    PA_TRY(pipe.poll, PollHandle::Create(context_.loop, pipe.fd, [this, &pipe] { OnPipe(pipe); }));
  }
  pipe.poll.Start();
  return {};
}

// What cannot be waited for must not be missing from a success: whoever writes it is ended.
void RunningCommand::WatchOrGiveUp(Pipe& pipe) {
  if (Watch(pipe)) return;
  End(pipe);
  worker_.Kill(false);
}

// The guardian sees each process by itself, the cgroup all of them together.
void RunningCommand::WatchCpuTime() {
  const auto used = worker_.CpuTime();
  if (settled_ || !used) return;
  if (*used < cpu_time_) return LookAgainAfter(*used);
  worker_.Exceed(worker::Limit::kCpuTime);
  OnHangUp();
}

// What is left cannot be used up before all processors have worked on it.
void RunningCommand::LookAgainAfter(std::chrono::microseconds used) {
  const auto left = std::chrono::duration_cast<milliseconds>(cpu_time_ - used);
  const milliseconds at_least = left / std::max(1u, std::thread::hardware_concurrency());
  cpu_.Start(std::max(kCpuLook, at_least), [this] { WatchCpuTime(); });
}

void RunningCommand::Cancel() {
  if (std::exchange(cancelled_, true)) return;
  worker_.Cancel();
  if (!settled_) deadline_.Start(grace_ + kGuardianSlack, [this] { OnOverdue(); });
  // Whoever cancelled reads no more, and must not hold up the end.
  for (Pipe* pipe : {&out_, &err_}) Resume(*pipe);
}

void RunningCommand::HangUp() {
  Cancel();
  worker_.HangUp();
  // What it writes is the old or the new at any moment.
  if (alone_ && !settled_) OnOverdue();
}

Task<Result<UniqueFd>> RunningCommand::Ask(worker::AskOrder order) {
  Completion<Result<UniqueFd>> told;
  asking_.push_back(&told);  // first: for each order that is sent there is who asked
  if (settled_ || !worker_.Ask(order)) {
    asking_.pop_back();
    co_return std::unexpected(NotGiven(ESRCH));
  }
  if (!patience_.is_active()) Await();
  Result<UniqueFd> given = co_await told;  // this object may be gone
  co_return given;
}

Task<Result<CommandNetwork>> RunningCommand::Network() {
  if (network_ != nullptr) co_return network_;
  const std::weak_ptr<bool> alive = alive_;
  Task<Result<UniqueFd>> task = Ask({.ask = worker::Ask::kNetwork});
  Result<UniqueFd> given = co_await task;
  if (!given) co_return std::unexpected(given.error());
  if (alive.expired()) co_return std::unexpected(NotGiven(ESRCH));
  if (network_ == nullptr) {
    network_ = std::make_shared<SharedNetwork>(SharedNetwork{.fd = std::move(*given)});
  }
  co_return network_;
}

Task<Result<UniqueFd>> RunningCommand::Connect(std::uint16_t port) {
  Task<Result<UniqueFd>> task = Ask({.ask = worker::Ask::kSocket, .port = port});
  Result<UniqueFd> given = co_await task;
  co_return given;
}

void RunningCommand::TakeGiven() {
  while (std::optional<Result<UniqueFd>> given = worker_.TakeGiven()) {
    Completion<Result<UniqueFd>>* const asks = asking_.front();
    asking_.pop_front();
    patience_.Stop();
    if (!asking_.empty()) Await();
    if (asks != nullptr) asks->Set(std::move(*given));
  }
}

void RunningCommand::Await() {
  patience_.Start(kPatience, [this] { TellNobody(ETIMEDOUT); });
}

// Those who still wait. An answer that comes later is nobody's.
void RunningCommand::TellNobody(int code) {
  patience_.Stop();
  std::vector<Completion<Result<UniqueFd>>*> waiting(asking_.begin(), asking_.end());
  std::ranges::fill(asking_, nullptr);
  for (auto* one : waiting) {
    if (one != nullptr) one->Set(std::unexpected(NotGiven(code)));
  }
}

void RunningCommand::OnControl() {
  const bool more = worker_.ReadControl();
  TakeGiven();
  if (worker_.settled()) {
    OnSettled();
  } else if (worker_.broken()) {
    worker_.Kill(false);  // a guardian that talks nonsense guards nothing
  }
  if (Over()) {
    control_.Close();
    FinishIfDone();
  } else if (!more) {
    OnHangUp();
  }
}

// The kernel closes what a process holds some microseconds before its death can be seen. That is
// less than a timer can wait, and to be told of the death (pidfd, SIGCHLD) would cost more.
void RunningCommand::OnHangUp() {
  control_.Close();
  for (int look = 0; look < kYields && !worker_.Reap(); ++look) sched_yield();
  AwaitExit();
}

void RunningCommand::AwaitExit() {
  if (worker_.Reap()) return OnExit();
  // One that hung up and goes on guards nothing.
  if (++waits_ == kWaitsForDeath && !worker_.settled()) worker_.KillHungUp();
  reap_.Start(kReapInterval, [this] { AwaitExit(); });
}

void RunningCommand::OnExit() {
  OnSettled();
  if (!worker_.tree_reaped()) return HuntOrphans();
  FinishIfDone();
}

// It was not little, or takes its time.
void RunningCommand::OnBulkTime() {
  if (delivery_ == Delivery::kInBulk) return ReadInBulk();
  for (Pipe* pipe : {&out_, &err_}) WatchOrGiveUp(*pipe);
}

// The pipe holds a megabyte, or 64 KiB where we have no budget for more: enough for some
// milliseconds, if we had not fallen behind.
void RunningCommand::ReadInBulk() {
  bool behind = false;
  for (Pipe* pipe : {&out_, &err_}) {
    const std::uint64_t before = pipe->total;
    if (pipe->open && !pipe->held) Read(*pipe);
    behind = behind || pipe->total - before >= kPipeBytes;
  }
  bulk_.Start(behind ? milliseconds(0) : kBulkInterval, [this] { ReadInBulk(); });
}

// One read a wake-up: a flood takes turns with everything else on the loop.
void RunningCommand::OnPipe(Pipe& pipe) {
  Read(pipe);
  if (!pipe.open) FinishIfDone();
}

void RunningCommand::Read(Pipe& pipe) {
  if (Held()) return Hold(pipe);
  const ssize_t got = read(pipe.fd, context_.buffer.data(), context_.buffer.size());
  if (got >= kPipeBytes) Widen(pipe);
  if (got > 0) {
    return Deliver(pipe, {context_.buffer.data(), static_cast<std::size_t>(got)});
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  End(pipe);
}

void RunningCommand::End(Pipe& pipe) {
  pipe.open = false;
  pipe.poll.Close();
}

// All that the command has written is there; who writes on is none of its tree.
void RunningCommand::ReadWhatIsThere(Pipe& pipe) {
  if (!pipe.open || pipe.held) return;
  const std::uint64_t enough = pipe.total + kWidePipeBytes;
  std::uint64_t before = 0;
  do {
    before = pipe.total;
    Read(pipe);
  } while (pipe.open && !pipe.held && pipe.total > before && pipe.total < enough);
  if (!pipe.held) WatchOrGiveUp(pipe);
}

// What is refused (an unprivileged user has a budget) leaves the pipe as it is.
void RunningCommand::Widen(Pipe& pipe) {
  if (!std::exchange(pipe.wide, true)) fcntl(pipe.fd, F_SETPIPE_SZ, kWidePipeBytes);
}

// Who keeps what comes may have no memory for it: then the command ends.
void RunningCommand::Deliver(Pipe& pipe, std::string_view bytes) {
  try {
    Pass(pipe, bytes);
  } catch (const std::bad_alloc&) {
    no_memory_ = true;
    HangUp();
  }
}

void RunningCommand::Pass(Pipe& pipe, std::string_view bytes) {
  pipe.total += bytes.size();
  if (pipe.captured) pipe.captured->Append(bytes);
  if (sink_ == nullptr) return;
  if (!cancelled_) return sink_->OnOutput(pipe.stream, bytes);
  withheld_ = withheld_ || !pipe.captured;
}

bool RunningCommand::Held() const {
  if (sink_ == nullptr || cancelled_) return false;
  const OutputGate* gate = sink_->gate();
  return gate != nullptr && gate->closed();
}

void RunningCommand::Hold(Pipe& pipe) {
  if (pipe.poll) pipe.poll.Stop();
  pipe.held = true;
  sink_->gate()->WhenOpen([this, &pipe, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) Resume(pipe);
  });
}

void RunningCommand::Resume(Pipe& pipe) {
  if (!std::exchange(pipe.held, false)) return;
  WatchOrGiveUp(pipe);
  if (settled_) StartDrainTime();
}

void RunningCommand::OnSettled() {
  if (std::exchange(settled_, true)) return;
  TellNobody(ESRCH);
  bulk_.Stop();
  cpu_.Stop();
  StartDrainTime();
  if (delivery_ == Delivery::kLive) return;
  for (Pipe* pipe : {&out_, &err_}) ReadWhatIsThere(*pipe);
}

void RunningCommand::StartDrainTime() {
  deadline_.Start(kDrainTime, [this] { OnDrainTime(); });
}

void RunningCommand::OnDrainTime() {
  if (!Over()) {
    worker_.Kill(false);
    StartDrainTime();  // for the pipes, once it is gone
    return OnHangUp();
  }
  // While the client does not read, no time to read passes.
  if (out_.held || err_.held) return;
  End(out_);
  End(err_);
  FinishIfDone();
}

void RunningCommand::OnOverdue() {
  worker_.Kill(!cancelled_);
  OnHangUp();
}

// Again and again, because every process that we kill gives us its children.
void RunningCommand::HuntOrphans() {
  const bool all_known = context_.all_workers_known(hunts_ >= kHuntsInDoubt);
  const bool dying = context_.orphans.Kill(context_.is_worker);
  hunting_ = (dying || !all_known) && ++hunts_ < kMaxHunts;
  if (!hunting_) return FinishIfDone();
  hunt_.Start(kHuntInterval, [this] { HuntOrphans(); });
}

// Nothing can come of it any more, whether it has exited already or is about to.
bool RunningCommand::Over() const { return worker_.reaped() || worker_.tree_reaped(); }

void RunningCommand::FinishIfDone() {
  if (!Over() || hunting_ || out_.open || err_.open) return;
  deadline_.Stop();
  if (!worker_.reaped()) context_.exiting_workers.Add(worker_.Release());
  Execution execution = worker_.Describe();
  // However it ended: whoever reads the output by itself has half of it, and would take that for
  // all.
  if (withheld_) {
    execution.outcome = Outcome::kCancelled;
    execution.exit_code = -1;
  }
  if (no_memory_) {
    execution.outcome = Outcome::kSetupFailed;
    execution.failed_step = worker::Step::kNone;
    execution.failed_errno = ENOMEM;
    execution.never_began = false;  // once more would come to the same end
    execution.failure = Error("keep", "its output", ENOMEM).Message();
  }
  execution.out = Finish(out_, err_);
  execution.err = Finish(err_, out_);
  if (execution.duration.count() == 0) {
    execution.duration = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - start_);
  }
  done_.Set(std::move(execution));  // may end *this
}

Captured RunningCommand::Finish(Pipe& pipe, const Pipe& other) {
  if (pipe.captured) {
    const std::uint64_t budget = pipe.captured->limits().inline_bytes;
    return pipe.captured->Finish(ShareOf(budget, pipe.total, other.total));
  }
  Captured captured;
  captured.total_bytes = pipe.total;
  return captured;
}

}  // namespace pa
