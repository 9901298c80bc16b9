#include "supervisor/spawner/serve_spawner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <expected>
#include <new>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/pack.h"
#include "base/packet.h"
#include "supervisor/spawner/spawner_wire.h"
#include "supervisor/spawner/start_helper.h"

namespace pa {
namespace {

constexpr std::size_t kMaxDirectories = 64;
constexpr std::size_t kMaxBoundsBytes = 16u << 20;
constexpr int kLoadMs = 60'000;

using Loaded = std::expected<Bounds, std::string>;

// A process that reads the policy: what it finds we take over, and nothing of its memory.
class Loader {
 public:
  // The error is errno.
  static std::expected<Loader, int> Start(const LoadBounds& load,
                                          const std::vector<std::string>& directories) {
    Loader loader;
    int fds[2];
    loader.answer_.reset(memfd_create("bounds", MFD_CLOEXEC));
    if (!loader.answer_ || pipe2(fds, O_CLOEXEC) != 0) return std::unexpected(errno);
    loader.ended_.reset(fds[0]);
    const UniqueFd theirs(fds[1]);
    const pid_t us = getpid();
    loader.pid_ = fork();
    if (loader.pid_ < 0) return std::unexpected(errno);
    if (loader.pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() == us) Read(load, directories, loader.answer_.get());
      _exit(0);
    }
    return loader;
  }
  int ended() const { return ended_.get(); }

  Loaded Take() {
    waitpid(pid_, nullptr, 0);
    const Result<std::string> bytes = ReadFileFrom(answer_.get(), "bounds", kMaxBoundsBytes);
    if (!bytes) return std::unexpected(bytes.error().Message());
    Loaded loaded;
    Unpacker unpacker(*bytes);
    if (unpacker(loaded) && unpacker.AtEnd()) return loaded;
    return std::unexpected("the process that reads the policy ended without an answer");
  }

 private:
  Loader() = default;

  static void Read(const LoadBounds& load, const std::vector<std::string>& directories,
                   int answer) {
    alarm(kLoadMs / 1000);
    try {
      Loaded loaded = std::unexpected("");
      Result<Bounds> bounds = load(directories);
      if (bounds) loaded = *std::move(bounds);
      if (!bounds) loaded = std::unexpected(bounds.error().Message());
      static_cast<void>(WriteAll(answer, Pack(loaded)));
      lseek(answer, 0, SEEK_SET);
    } catch (const std::bad_alloc&) {
    }
  }

  pid_t pid_ = -1;
  UniqueFd answer_;
  UniqueFd ended_;
};

// What the server has open is the client's, or a socket on which it listens. Our stderr stays.
void CloseAllBut(const SpawnerSockets& sockets) {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (null) {
    dup2(null.get(), STDIN_FILENO);
    dup2(null.get(), STDOUT_FILENO);
  }
  const auto [low, high] = std::minmax({static_cast<unsigned>(sockets.start.get()),
                                        static_cast<unsigned>(sockets.look.get())});
  if (low > 3) close_range(3, low - 1, 0);
  if (high > low + 1) close_range(low + 1, high - 1, 0);
  close_range(high + 1, ~0u, 0);
}

class Server {
 public:
  Server(const SpawnerSockets& sockets, const LoadBounds& load) : sockets_(sockets), load_(load) {}

  int Run() {
    Load({});
    for (;;) {
      pollfd events[] = {{sockets_.start.get(), POLLIN, 0},
                         {loader_ ? loader_->ended() : sockets_.look.get(), POLLIN, 0}};
      if (poll(events, 2, -1) < 0) {
        if (errno == EINTR) continue;
        return 1;
      }
      if (events[1].revents != 0) loader_ ? OnLoaded() : OnLook();
      // Who wants a helper waits for the first bounds.
      if (events[0].revents != 0) {
        if (!loaded_ && loader_) OnLoaded();
        if (!OnStart()) return 0;
      }
    }
  }

 private:
  void Load(std::optional<std::string> directory) {
    std::vector<std::string> directories = directories_;
    if (directory) directories.push_back(*std::move(directory));
    if (directories.size() > kMaxDirectories) directories.erase(directories.begin());
    auto loader = Loader::Start(load_, directories);
    if (!loader) return AnswerLook(loader.error(), std::strerror(loader.error()));
    loader_ = *std::move(loader);
    next_ = std::move(directories);
  }

  void OnLoaded() {
    Loaded loaded = loader_->Take();
    loader_.reset();
    // What could not be read leaves what was.
    if (loaded) directories_ = std::move(next_);
    if (loaded || !loaded_) loaded_ = std::move(loaded);
    if (!std::exchange(asked_, false)) return;
    if (!loaded_->has_value() || !loaded) {
      return AnswerLook(EIO, loaded_->has_value() ? loaded.error() : loaded_->error());
    }
    std::vector<std::string> elsewhere;
    for (const sandbox::PathGrant& grant : (*loaded_)->elsewhere) elsewhere.push_back(grant.path);
    AnswerLook(0, Pack(elsewhere));
  }

  void OnLook() {
    SpawnerRequest request;
    const ReceivedPacket packet =
        ReceivePacket(sockets_.look.get(), AsWritableBytes(request), MSG_CMSG_CLOEXEC);
    for (std::size_t i = 0; i < packet.count; ++i) close(packet.descriptors[i]);
    request.directory[sizeof(request.directory) - 1] = '\0';
    const bool whole = packet.size == sizeof(request) && request.magic == SpawnerRequest::kMagic;
    if (!whole || request.kind == SpawnerRequest::Kind::kStart) {
      if (packet.size <= 0) _exit(0);
      return AnswerLook(EINVAL, "request");
    }
    asked_ = true;
    Load(request.kind == SpawnerRequest::Kind::kLook ? std::optional(request.directory)
                                                     : std::nullopt);
  }

  void AnswerLook(int sys_errno, const std::string& text) {
    Send(sockets_.look.get(), sys_errno, -1, text);
  }

  // False: the server is gone.
  bool OnStart() {
    SpawnerRequest request;
    const ReceivedPacket packet =
        ReceivePacket(sockets_.start.get(), AsWritableBytes(request), MSG_CMSG_CLOEXEC);
    const UniqueFd socket(packet.count > 0 ? packet.descriptors[0] : -1);
    for (std::size_t i = 1; i < packet.count; ++i) close(packet.descriptors[i]);
    if (packet.size <= 0) return false;
    const bool whole = packet.size == sizeof(request) && request.magic == SpawnerRequest::kMagic &&
                       socket && request.kind == SpawnerRequest::Kind::kStart &&
                       request.helper <= Helper::kJanitor;
    if (!whole) return Send(sockets_.start.get(), EINVAL, -1, "request");
    if (!loaded_ || !*loaded_) {
      return Send(sockets_.start.get(), EIO, -1,
                  loaded_ ? loaded_->error() : std::string("the policy is not read"));
    }
    const Started started = StartHelper(request.helper, socket.get(), **loaded_);
    if (!started.error) return Send(sockets_.start.get(), 0, started.pid, "");
    const int code = started.error->sys_errno == 0 ? EIO : started.error->sys_errno;
    return Send(sockets_.start.get(), code, started.pid,
                started.error->op + " " + started.error->subject);
  }

  static bool Send(int socket, int sys_errno, pid_t pid, const std::string& text) {
    SpawnerReply reply{.sys_errno = sys_errno, .pid = pid};
    reply.size = static_cast<std::uint32_t>(text.copy(reply.text, sizeof(reply.text)));
    SendPacket(socket, AsBytes(reply), {}, MSG_NOSIGNAL);
    return true;
  }

  const SpawnerSockets& sockets_;
  const LoadBounds& load_;
  std::optional<Loaded> loaded_;  // nothing: not yet
  std::vector<std::string> directories_;
  std::vector<std::string> next_;
  std::optional<Loader> loader_;  // while a process reads the policy
  bool asked_ = false;            // the server waits for it
};

}  // namespace

int ServeSpawner(const SpawnerSockets& sockets, const LoadBounds& load) {
  prctl(PR_SET_NAME, "pa-spawner");
  CloseAllBut(sockets);
  // To stay would keep somebody from unmounting it.
  if (chdir("/") != 0) return 1;
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  // What ends the server ends us: it closes the sockets.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(signal, &ignore, nullptr);
  }
  return Server(sockets, load).Run();
}

}  // namespace pa
