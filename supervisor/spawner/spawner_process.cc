#include "supervisor/spawner/spawner_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <span>
#include <utility>

#include "base/pack.h"
#include "base/packet.h"
#include "base/try.h"
#include "policy/path.h"

namespace pa {

struct SpawnerProcess::Reply {
  SpawnerReply head;
  std::string text;
  UniqueFd descriptor;
};

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

}  // namespace

// EAGAIN: it has not come. EPIPE: there will be none.
Result<SpawnerProcess::Reply> SpawnerProcess::Receive(int socket) {
  std::string bytes(sizeof(SpawnerReply) + kMaxSpawnerText, '\0');
  const ReceivedPacket packet = ReceiveWaitingPacket(socket, bytes);
  const int code = packet.size < 0 && errno == EAGAIN ? EAGAIN : EPIPE;
  Reply reply;
  reply.descriptor.reset(packet.count > 0 ? packet.descriptors[0] : -1);
  for (std::size_t i = 1; i < packet.count; ++i) close(packet.descriptors[i]);
  const auto size = static_cast<std::size_t>(std::max<ssize_t>(packet.size, 0));
  std::memcpy(&reply.head, bytes.data(), sizeof(reply.head));
  if (size < sizeof(reply.head) || reply.head.magic != SpawnerRequest::kMagic) {
    return std::unexpected(Error("spawner", "it has ended", code));
  }
  reply.text = bytes.substr(sizeof(reply.head), size - sizeof(reply.head));
  return reply;
}

Result<std::unique_ptr<SpawnerProcess>> SpawnerProcess::Fork(const SpawnerLoads& loads) {
  PA_TRY(Pair start, SocketPair());
  PA_TRY(Pair look, SocketPair());
  const pid_t pid = fork();
  if (pid < 0) return std::unexpected(Error("fork", "spawner", errno));
  if (pid == 0) {
    const SpawnerSockets sockets{std::move(start[1]), std::move(look[1])};
    _exit(ServeSpawner(sockets, loads));
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
  PA_TRY(const Reply reply,
         Exchange({.kind = SpawnerRequest::Kind::kStart, .helper = helper}, "", {&socket, 1}));
  return static_cast<pid_t>(reply.head.pid);
}

Result<ServerPolicy> SpawnerProcess::PolicyOf(const Result<Reply>& reply) {
  if (reply) return PackedIn<ServerPolicy>(reply->descriptor.get(), "policy");
  const Error& error = reply.error();
  return std::unexpected(error.sys_errno == EIO ? Error("", error.subject, 0) : error);
}

Result<ServerPolicy> SpawnerProcess::AwaitPolicy() {
  return PolicyOf(Exchange({.kind = SpawnerRequest::Kind::kLoad}, "", {}));
}

Result<UniqueFd> SpawnerProcess::Open(const std::string& path) {
  const auto refused = [&](int code) { return std::unexpected(Error("open", path, code)); };
  if (path.size() > kMaxSpawnerText) return refused(ENAMETOOLONG);
  Result<Reply> reply = Exchange({.kind = SpawnerRequest::Kind::kOpen}, path, {});
  if (!reply) return refused(reply.error().sys_errno);
  if (!reply->descriptor) return refused(EMFILE);
  return std::move(reply->descriptor);
}

void SpawnerProcess::RemoveSocket(const SocketFile& socket) {
  static_cast<void>(Exchange({.kind = SpawnerRequest::Kind::kRemove}, Pack(socket), {}));
}

Result<SpawnerProcess::Reply> SpawnerProcess::Exchange(const SpawnerRequest& request,
                                                       std::string_view text,
                                                       std::span<const int> descriptors) {
  std::string bytes(AsBytes(request).data(), sizeof(request));
  bytes += text;
  if (SendPacket(start_.get(), bytes, descriptors, MSG_NOSIGNAL) < 0) {
    return std::unexpected(Error("spawner", "send", errno));
  }
  if (!Readable(start_.get())) {
    // A reply that comes later would be taken for that of another request.
    shutdown(start_.get(), SHUT_RDWR);
    return std::unexpected(Error("spawner", "it does not answer", ETIMEDOUT));
  }
  PA_TRY(Reply reply, Receive(start_.get()));
  if (reply.head.sys_errno == 0) return reply;
  if (reply.head.pid > 0) waitpid(reply.head.pid, nullptr, 0);
  return std::unexpected(Error("spawner", reply.text, reply.head.sys_errno));
}

Task<Result<bool>> SpawnerProcess::Reach(std::string directory, std::vector<std::string> paths) {
  const bool known = std::ranges::all_of(paths, [&](const std::string& path) {
    return std::ranges::any_of(
        elsewhere_, [&](const std::string& one) { return policy::IsBeneath(path, one); });
  });
  if (known) co_return false;
  if (directory.size() >= PATH_MAX) {
    co_return std::unexpected(Error("spawner", directory, ENAMETOOLONG));
  }
  Task<Result<bool>> asking = AskForBounds(SpawnerRequest::Kind::kLook, std::move(directory));
  Result<bool> asked = co_await asking;
  co_return asked;
}

Task<Result<ServerPolicy>> SpawnerProcess::ReadPolicy() {
  Task<Result<Reply>> asking = Ask(SpawnerRequest::Kind::kLoad, "");
  const Result<Reply> reply = co_await asking;
  co_return PolicyOf(reply);
}

Task<Result<bool>> SpawnerProcess::TakePolicy() {
  return AskForBounds(SpawnerRequest::Kind::kTake, "");
}

Task<Result<std::string>> SpawnerProcess::ReadIdentity() {
  return AskForText(SpawnerRequest::Kind::kIdentity, "");
}

Task<Result<std::string>> SpawnerProcess::GitAtWork(std::vector<std::string> directories) {
  return AskForText(SpawnerRequest::Kind::kGit, Pack(directories));
}

Task<Result<bool>> SpawnerProcess::AskForBounds(SpawnerRequest::Kind kind, std::string text) {
  Task<Result<std::string>> asking = AskForText(kind, std::move(text));
  const Result<std::string> packed = co_await asking;
  if (!packed) co_return std::unexpected(packed.error());
  std::vector<std::string> elsewhere;
  if (Unpacker(*packed)(elsewhere)) elsewhere_ = std::move(elsewhere);
  co_return true;
}

Task<Result<std::string>> SpawnerProcess::AskForText(SpawnerRequest::Kind kind, std::string text) {
  Task<Result<Reply>> asking = Ask(kind, std::move(text));
  Result<Reply> reply = co_await asking;
  if (!reply) co_return std::unexpected(reply.error());
  co_return std::move(reply->text);
}

Task<Result<SpawnerProcess::Reply>> SpawnerProcess::Ask(SpawnerRequest::Kind kind,
                                                        std::string text) {
  if (!replies_) co_return std::unexpected(Error("spawner", "it has ended", ECANCELED));
  if (text.size() > kMaxSpawnerText) {
    co_return std::unexpected(Error("spawner", "request", ENAMETOOLONG));
  }
  const SpawnerRequest request{.kind = kind};
  Completion<Result<Reply>> done;
  waiting_.push_back({std::string(AsBytes(request).data(), sizeof(request)) + text, &done});
  if (waiting_.size() == 1) SendNext();
  Result<Reply> result = co_await done;
  co_return result;
}

void SpawnerProcess::SendNext() {
  if (waiting_.empty()) return replies_.Stop();
  replies_.Start();
  if (SendPacket(look_.get(), waiting_.front().request, {}, MSG_NOSIGNAL) < 0) End();
}

void SpawnerProcess::OnReply() {
  Result<Reply> reply = Receive(look_.get());
  if (!reply && reply.error().sys_errno == EAGAIN) return;
  if (!reply || waiting_.empty()) return End();
  Completion<Result<Reply>>* done = waiting_.front().done;
  waiting_.pop_front();
  SendNext();
  if (reply->head.sys_errno == 0) return done->Set(std::move(reply));
  done->Set(std::unexpected(Error("spawner", reply->text, reply->head.sys_errno)));
}

}  // namespace pa
