#include "supervisor/janitor/janitor_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <utility>

#include "base/file.h"
#include "base/packet.h"
#include "base/try.h"
#include "supervisor/janitor/janitor_wire.h"
#include "supervisor/loop/background.h"
#include "supervisor/loop/spawn_process.h"

namespace pa {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How soon a chore ends that takes too long.
constexpr milliseconds kTick{20};
constexpr std::size_t kAtOnce = 256u << 10;  // of an answer, which the loop can wait for
constexpr int kAttempts = 3;
constexpr std::chrono::seconds kIdle{30};
// Until an order is taken: longer, and the janitor is stopped, or the machine has no process left.
constexpr std::chrono::seconds kTakesOrders{10};

Result<std::string> ReadAt(int fd, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t read =
        pread(fd, bytes.data() + got, size - got, static_cast<off_t>(offset + got));
    if (read <= 0) return std::unexpected(Error("read", "its answer is cut", EBADMSG));
    got += static_cast<std::size_t>(read);
  }
  return bytes;
}

Result<JanitorAnswer> HeaderOf(int fd) {
  JanitorAnswer header;
  const bool whole = pread(fd, &header, sizeof(header), 0) == sizeof(header);
  if (!whole || header.state == JanitorAnswer::State::kNone) {
    return std::unexpected(Error("read", "its process ended without an answer", EPIPE));
  }
  if (header.size > kMaxJanitorBytes) {
    return std::unexpected(Error("read", "its answer is too large", EFBIG));
  }
  return header;
}

Result<std::string> ContentOf(int fd, const JanitorAnswer& header) {
  using State = JanitorAnswer::State;
  PA_TRY(std::string bytes, ReadAt(fd, sizeof(header), header.size));
  if (header.state == State::kDone) return bytes;
  if (header.state == State::kOutOfMemory) return std::unexpected(Error("work", "", ENOMEM));
  return std::unexpected(Error("confine", bytes, header.sys_errno));
}

Result<UniqueFd> OrderFile(const JanitorOrder& order) {
  PA_TRY(UniqueFd file, EmptyMemfd("order"));
  const std::string head = Pack(std::string(order.chore), order.read, order.write);
  const auto size = static_cast<std::uint64_t>(head.size());
  for (const std::string_view part : {std::string_view(AsBytes(size).data(), sizeof(size)),
                                      std::string_view(head), std::string_view(order.input)}) {
    PA_TRY_VOID(WriteAll(file.get(), part));
  }
  if (lseek(file.get(), 0, SEEK_SET) != 0) return std::unexpected(Error("lseek", "order", errno));
  return file;
}

}  // namespace

struct JanitorProcess::Files {
  UniqueFd input;
  UniqueFd answer;
  UniqueFd done;  // the janitor's end of the pipe
};

// Lives in the coroutine that waits for it.
struct JanitorProcess::Running {
  const JanitorOrder& order;
  steady_clock::time_point end;
  UniqueFd done_pipe;
  std::uint64_t number = 0;
  steady_clock::time_point taken_by = steady_clock::now() + kTakesOrders;
  UniqueFd process = {};  // none: the reply has not come
  PollHandle ended = {};
  Completion<std::optional<Error>> done = {};
};

bool JanitorProcess::IsWaiting(const Running* chore) { return !chore->process; }

void JanitorProcess::Kill(const Running& chore) {
  syscall(SYS_pidfd_send_signal, chore.process.get(), SIGKILL, nullptr, 0);
}

Result<pid_t> StartOwnJanitor(const std::string& executable, int socket) {
  return SpawnProcess(executable, kJanitorOption, nullptr, socket, kJanitorFd);
}

JanitorProcess::JanitorProcess(uv_loop_t* loop, std::string executable,
                               std::function<void(pid_t)> reap)
    : JanitorProcess(
          loop,
          [executable = std::move(executable)](int socket) {
            return StartOwnJanitor(executable, socket);
          },
          std::move(reap)) {}

JanitorProcess::JanitorProcess(uv_loop_t* loop, StartJanitor start, std::function<void(pid_t)> reap)
    : loop_(loop), start_(std::move(start)), reap_(std::move(reap)), idle_(loop), tick_(loop) {
  idle_->Unref();
}

JanitorProcess::~JanitorProcess() { Close(); }

Result<void> JanitorProcess::Start() {
  if (closed_) return std::unexpected(Error("start", "the server ends", ECANCELED));
  if (socket_) return {};
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    return std::unexpected(Error("socketpair", "janitor", errno));
  }
  UniqueFd ours(fds[0]);
  const UniqueFd theirs(fds[1]);
  PA_TRY(PollHandle replies, PollHandle::Create(loop_, ours.get(), [this] { TakeReplies(); }));
  PA_TRY(pid_, start_(theirs.get()));
  socket_ = std::move(ours);
  replies_ = std::move(replies);
  return {};
}

Result<void> JanitorProcess::Send(Running& chore, const Files& files, const JanitorOrder& order) {
  PA_TRY_VOID(Start());
  // A short wait, if very many orders are on their way: a part of an order could not be taken back.
  const auto send = [this](const JanitorPacket& packet, std::span<const int> descriptors) {
    constexpr int kMostWaits = 20;
    constexpr int kWaitMs = 50;
    for (int waits = 0;; ++waits) {
      const ssize_t sent =
          SendPacket(socket_.get(), AsBytes(packet), descriptors, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0 || errno != EAGAIN || waits == kMostWaits) return sent >= 0;
      pollfd writable{socket_.get(), POLLOUT, 0};
      poll(&writable, 1, kWaitMs);
    }
  };
  const JanitorPacket packet{.more = static_cast<std::uint32_t>(order.descriptors.size()),
                             .number = chore.number};
  const std::array own = {files.input.get(), files.answer.get(), files.done.get()};
  bool sent = send(packet, own);
  std::vector<int> more;
  for (const auto& fd : order.descriptors) more.push_back(fd->get());
  for (std::size_t at = 0; sent && at < more.size(); at += kMaxPacketDescriptors) {
    const std::size_t count = std::min(kMaxPacketDescriptors, more.size() - at);
    sent = send(packet, std::span(more).subspan(at, count));
  }
  if (sent) {
    running_.push_back(&chore);
    idle_->Stop();
    replies_.Start();
    if (!tick_->is_active()) tick_->Start(kTick, [this] { Tick(); });
    return {};
  }
  const Error error("send", "janitor", errno);
  Lose(error);
  return std::unexpected(error);
}

void JanitorProcess::TakeReplies() {
  while (socket_) {
    JanitorReply reply;
    ReceivedPacket packet = ReceiveWaitingPacket(socket_.get(), AsWritableBytes(reply));
    if (packet.size < 0 && errno == EAGAIN) return;
    UniqueFd process(packet.count > 0 ? packet.descriptors[0] : -1);
    if (packet.cut) return Lose(Error("receive", "janitor", EMFILE));
    const Error ended("reply", "the janitor has ended", EPIPE);
    if (packet.size != sizeof(reply) || packet.count > 1) return Lose(ended);
    const auto chore = std::ranges::find_if(running_, [&](const Running* one) {
      return one->number == reply.number && IsWaiting(one);
    });
    if (chore == running_.end() || (reply.sys_errno == 0) != static_cast<bool>(process))
      return Lose(ended);
    if (process) {
      OnStarted(**chore, std::move(process));
    } else {
      End(**chore, Error("fork", "janitor", reply.sys_errno));
    }
    if (socket_ && std::ranges::none_of(running_, &IsWaiting)) replies_.Stop();
  }
}

// Its chores end with it.
void JanitorProcess::Lose(const Error& error) {
  if (!socket_) return;
  replies_.Close();
  socket_.reset();
  kill(pid_, SIGKILL);  // not reaped, so the number is still its own
  const pid_t pid = std::exchange(pid_, -1);
  if (closed_) {
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
  } else {
    reap_(pid);
  }
  EndAll(&IsWaiting, error);
}

// Whoever waited for one may go on at once, and begin or end others.
void JanitorProcess::EndAll(bool (*which)(const Running*), const Error& error) {
  const std::list<Running*> chores = running_;
  for (Running* chore : chores) {
    const bool still = std::ranges::find(running_, chore) != running_.end();
    if (still && which(chore)) End(*chore, error);
  }
}

void JanitorProcess::OnStarted(Running& chore, UniqueFd process) {
  chore.process = std::move(process);
  Result<PollHandle> ended = PollHandle::Create(loop_, chore.done_pipe.get(),
                                                [this, &chore] { End(chore, std::nullopt); });
  if (!ended) {
    Kill(chore);
    return End(chore, ended.error());
  }
  chore.ended = std::move(*ended);
  chore.ended.Start();
  if (chore.order.given_up == nullptr) return;
  chore.order.given_up->OnSet([&chore] { Kill(chore); });
  if (chore.order.given_up->IsSet()) Kill(chore);
}

void JanitorProcess::Tick() {
  const auto now = steady_clock::now();
  bool stopped = false;
  for (Running* chore : running_) {
    if (IsWaiting(chore)) {
      stopped = stopped || now >= chore->taken_by;
    } else if (now >= chore->end) {
      Kill(*chore);
    }
  }
  if (stopped) Lose(Error("reply", "the janitor takes no order", EPIPE));
  if (!running_.empty() && tick_) tick_->Start(kTick, [this] { Tick(); });
}

void JanitorProcess::End(Running& chore, std::optional<Error> failed) {
  running_.remove(&chore);
  chore.ended.Close();
  // One that was taken over could stay, with what it may change.
  if (!IsWaiting(&chore)) Kill(chore);
  if (chore.order.given_up != nullptr) chore.order.given_up->OnSet(nullptr);
  if (running_.empty() && tick_) {
    tick_->Stop();
    idle_->Start(kIdle, [this] { Rest(); });
  }
  chore.done.Set(std::move(failed));
}

void JanitorProcess::Rest() {
  if (running_.empty()) Lose(Error("wait", "janitor", EPIPE));
}

void JanitorProcess::Renew() { Lose(Error("replace", "janitor", EPIPE)); }

void JanitorProcess::Close() {
  if (std::exchange(closed_, true)) return;
  for (const Running* chore : running_) {
    if (!IsWaiting(chore)) Kill(*chore);
  }
  const Error error("close", "janitor", ECANCELED);
  Lose(error);
  EndAll([](const Running*) { return true; }, error);
  tick_.reset();
  idle_.reset();
}

Task<Result<std::string>> JanitorProcess::DoOnce(const JanitorOrder& order) {
  Files files;
  PA_CO_TRY(files.input, OrderFile(order));
  PA_CO_TRY(files.answer, EmptyMemfd("answer"));
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) co_return std::unexpected(Error("pipe2", "janitor", errno));
  files.done.reset(fds[1]);
  Running chore{.order = order,
                .end = steady_clock::now() + order.time,
                .done_pipe = UniqueFd(fds[0]),
                .number = ++last_};
  PA_CO_TRY_VOID(Send(chore, files, order));
  files.done.reset();
  Completion<std::optional<Error>>& done = chore.done;
  const std::optional<Error> failed = co_await done;
  if (failed) co_return std::unexpected(*failed);
  const Result<JanitorAnswer> header = HeaderOf(files.answer.get());
  if (!header && order.given_up != nullptr && order.given_up->IsSet()) {
    co_return std::unexpected(Error("wait", "nobody does", ECANCELED));
  }
  if (!header && steady_clock::now() >= chore.end) {
    co_return std::unexpected(Error("wait", "it took too long", ETIME));
  }
  PA_CO_TRY_VOID(header);
  if (header->size <= kAtOnce) co_return ContentOf(files.answer.get(), *header);
  Task<Result<std::string>> reading = InBackground<Result<std::string>>(
      loop_, [fd = files.answer.get(), known = *header] { return ContentOf(fd, known); });
  Result<std::string> content = co_await reading;
  co_return content;
}

// Once more if it was killed: whoever can do that may have had a reason.
Task<Result<std::string>> JanitorProcess::Do(JanitorOrder order) {
  if (order.descriptors.size() > kMaxJanitorDescriptors || order.input.size() > kMaxJanitorBytes) {
    co_return std::unexpected(Error("janitor", "its order is too large", E2BIG));
  }
  for (int attempt = 1;; ++attempt) {
    Task<Result<std::string>> task = DoOnce(order);
    Result<std::string> answer = co_await task;
    if (answer) co_return answer;
    const Error& error = answer.error();
    if (error.sys_errno == EPIPE && attempt < kAttempts && !closed_) continue;
    co_return std::unexpected(Error("janitor " + std::string(order.chore) + ": " + error.op,
                                    error.subject, error.sys_errno));
  }
}

}  // namespace pa
