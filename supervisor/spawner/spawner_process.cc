#include "supervisor/spawner/spawner_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>
#include <utility>

#include "base/pack.h"
#include "base/packet.h"
#include "base/try.h"
#include "policy/path.h"

namespace pa {
namespace {

// Longer than any machine takes to start a program that it can start at all.
constexpr int kPatienceMs = 10'000;

using Pair = std::array<UniqueFd, 2>;

Result<Pair> SocketPair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    return std::unexpected(Error("socketpair", "spawner", errno));
  }
  return Pair{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

bool Readable(int fd) {
  pollfd readable{fd, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&readable, 1, kPatienceMs);
  } while (ready < 0 && errno == EINTR);
  return ready == 1;
}

std::string_view TextOf(const SpawnerReply& reply) {
  return {reply.text, std::min<std::size_t>(reply.size, sizeof(reply.text))};
}

Error ErrorOf(const SpawnerReply& reply) {
  return {"spawner", std::string(TextOf(reply)), reply.sys_errno};
}

bool IsReply(const SpawnerReply& reply, ssize_t size) {
  return size == sizeof(reply) && reply.magic == SpawnerRequest::kMagic;
}

}  // namespace

Result<std::unique_ptr<SpawnerProcess>> SpawnerProcess::Fork(const LoadBounds& load) {
  PA_TRY(Pair start, SocketPair());
  PA_TRY(Pair look, SocketPair());
  const pid_t pid = fork();
  if (pid < 0) return std::unexpected(Error("fork", "spawner", errno));
  if (pid == 0) {
    const SpawnerSockets sockets{std::move(start[1]), std::move(look[1])};
    _exit(ServeSpawner(sockets, load));
  }
  return std::unique_ptr<SpawnerProcess>(
      new SpawnerProcess(pid, std::move(start[0]), std::move(look[0])));
}

SpawnerProcess::SpawnerProcess(pid_t pid, UniqueFd start, UniqueFd look)
    : pid_(pid), start_(std::move(start)), look_(std::move(look)) {}

// It ends when its sockets are closed.
SpawnerProcess::~SpawnerProcess() {
  Close();
  start_.reset();
  look_.reset();
  waitpid(pid_, nullptr, 0);
}

void SpawnerProcess::FollowOn(uv_loop_t* loop, std::function<void()> on_end) {
  on_end_ = std::move(on_end);
  auto replies = PollHandle::Create(loop, look_.get(), [this] { OnReply(); });
  auto ended = PollHandle::Create(loop, start_.get(), [this] { End(); });
  if (!replies || !ended) return End();
  replies_ = std::move(*replies);
  ended_ = std::move(*ended);
  ended_.Start();
  ended_.Unref();
}

void SpawnerProcess::Close() {
  on_end_ = nullptr;
  replies_.Close();
  ended_.Close();
  End();
}

void SpawnerProcess::End() {
  if (ended_) ended_.Stop();
  if (replies_) replies_.Stop();
  const std::deque<Waiting> waiting = std::exchange(waiting_, {});
  for (const Waiting& one : waiting) {
    one.done->Set(std::unexpected(Error("spawner", "it has ended", ECANCELED)));
  }
  if (on_end_) std::exchange(on_end_, nullptr)();
}

Result<pid_t> SpawnerProcess::Start(Helper helper, int socket) {
  const SpawnerRequest request{.kind = SpawnerRequest::Kind::kStart, .helper = helper};
  if (SendPacket(start_.get(), AsBytes(request), {&socket, 1}, MSG_NOSIGNAL) < 0) {
    return std::unexpected(Error("spawner", "send", errno));
  }
  SpawnerReply reply;
  if (!Readable(start_.get())) {
    // A reply that comes later would be taken for that of another request.
    shutdown(start_.get(), SHUT_RDWR);
    return std::unexpected(Error("spawner", "it does not answer", ETIMEDOUT));
  }
  const ReceivedPacket packet =
      ReceivePacket(start_.get(), AsWritableBytes(reply), MSG_CMSG_CLOEXEC);
  for (std::size_t i = 0; i < packet.count; ++i) close(packet.descriptors[i]);
  if (!IsReply(reply, packet.size)) {
    return std::unexpected(Error("spawner", "it has ended", EPIPE));
  }
  if (reply.sys_errno == 0) return static_cast<pid_t>(reply.pid);
  if (reply.pid > 0) waitpid(reply.pid, nullptr, 0);
  return std::unexpected(ErrorOf(reply));
}

Task<Result<bool>> SpawnerProcess::Reach(std::string directory, std::vector<std::string> paths) {
  const bool known = std::ranges::all_of(paths, [&](const std::string& path) {
    return std::ranges::any_of(
        elsewhere_, [&](const std::string& one) { return policy::IsBeneath(path, one); });
  });
  if (known) co_return false;
  SpawnerRequest request{.kind = SpawnerRequest::Kind::kLook};
  if (directory.size() >= sizeof(request.directory)) {
    co_return std::unexpected(Error("spawner", directory, ENAMETOOLONG));
  }
  directory.copy(request.directory, sizeof(request.directory) - 1);
  Task<Result<bool>> asking = Ask(request);
  Result<bool> asked = co_await asking;
  co_return asked;
}

Task<Result<bool>> SpawnerProcess::Reload() {
  Task<Result<bool>> asking = Ask({.kind = SpawnerRequest::Kind::kLoad});
  Result<bool> asked = co_await asking;
  co_return asked;
}

Task<Result<bool>> SpawnerProcess::Ask(SpawnerRequest request) {
  if (!replies_) co_return std::unexpected(Error("spawner", "it has ended", ECANCELED));
  Completion<Result<bool>> done;
  waiting_.push_back({request, &done});
  if (waiting_.size() == 1) SendNext();
  Result<bool> result = co_await done;
  co_return result;
}

void SpawnerProcess::SendNext() {
  if (waiting_.empty()) return replies_.Stop();
  replies_.Start();
  if (SendPacket(look_.get(), AsBytes(waiting_.front().request), {}, MSG_NOSIGNAL) < 0) End();
}

void SpawnerProcess::OnReply() {
  SpawnerReply reply;
  ReceivedPacket packet = ReceiveWaitingPacket(look_.get(), AsWritableBytes(reply));
  if (packet.size < 0 && errno == EAGAIN) return;
  for (std::size_t i = 0; i < packet.count; ++i) close(packet.descriptors[i]);
  if (!IsReply(reply, packet.size) || waiting_.empty()) return End();
  Completion<Result<bool>>* done = waiting_.front().done;
  waiting_.pop_front();
  Result<bool> result = true;
  if (reply.sys_errno != 0) result = std::unexpected(ErrorOf(reply));
  std::vector<std::string> elsewhere;
  if (result && Unpacker(TextOf(reply))(elsewhere)) elsewhere_ = std::move(elsewhere);
  SendNext();
  done->Set(std::move(result));
}

}  // namespace pa
