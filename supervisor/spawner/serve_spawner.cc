#include "supervisor/spawner/serve_spawner.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <expected>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/descriptors.h"
#include "base/file.h"
#include "base/pack.h"
#include "base/packet.h"
#include "base/try.h"
#include "supervisor/run/git_at_work.h"
#include "supervisor/spawner/own_directories.h"
#include "supervisor/spawner/spawner_wire.h"
#include "supervisor/spawner/start_helper.h"
#include "supervisor/state/git_identity.h"
#include "supervisor/transport/listening_socket.h"

namespace pa {
namespace {

constexpr std::size_t kMaxDirectories = 64;
constexpr unsigned kLoadSeconds = 60;

// What a process that read the policy has found. It stays in its file: we keep little memory, and
// whoever becomes a helper reads it.
struct Loaded {
  UniqueFd file;  // empty: there is none
  std::string error;
};

Result<Bounds> BoundsIn(const Loaded& loaded) {
  if (!loaded.file) {
    return std::unexpected(
        Error("bounds", loaded.error.empty() ? "they are none" : loaded.error, EBADMSG));
  }
  return PackedIn<Bounds>(loaded.file.get(), "bounds");
}

// A process that reads files of the user: we take over what it finds, and nothing of its memory.
class Loader {
 public:
  // `work`: what the process answers. The error is errno.
  static std::expected<Loader, int> Start(const std::function<Result<std::string>()>& work) {
    Loader loader;
    int fds[2];
    Result<UniqueFd> answer = EmptyMemfd("bounds");
    if (!answer) return std::unexpected(answer.error().sys_errno);
    loader.answer_ = *std::move(answer);
    if (pipe2(fds, O_CLOEXEC) != 0) return std::unexpected(errno);
    loader.ended_.reset(fds[0]);
    const UniqueFd theirs(fds[1]);
    const pid_t us = getpid();
    // Not fork(3): if there was a loop before, a handler of libuv's would close the numbers that
    // its descriptors had, which are ours by now.
    loader.pid_ = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0));
    if (loader.pid_ < 0) return std::unexpected(errno);
    if (loader.pid_ > 0) return loader;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(kLoadSeconds);
    _exit(getppid() == us ? Answer(work, loader.answer_.get()) : kFailed);
  }
  int ended() const { return ended_.get(); }
  pid_t pid() const { return pid_; }

  Loaded Take() {
    int status = 0;
    waitpid(pid_, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {std::move(answer_), ""};
    const Result<std::string> said = ReadFileFrom(answer_.get(), "bounds", kMaxSpawnerText);
    const bool told = said && WIFEXITED(status) && !said->empty();
    return {UniqueFd(),
            told ? *said : "the process that reads for the server ended without an answer"};
  }

 private:
  static constexpr int kFailed = 1;
  Loader() = default;

  static int Answer(const std::function<Result<std::string>()>& work, int answer) {
    try {
      const Result<std::string> done = work();
      if (done) return WriteAll(answer, *done) ? 0 : kFailed;
      const Error& error = done.error();
      const std::string text = error.op.empty() ? error.subject : error.Message();
      static_cast<void>(WriteAll(answer, text.substr(0, kMaxSpawnerText)));
      return kFailed;
    } catch (const std::bad_alloc&) {
      return kFailed;
    }
  }

  pid_t pid_ = -1;
  UniqueFd answer_;
  UniqueFd ended_;
};

// What the server has open is the client's, or a socket on which it listens. Our stderr stays.
Result<void> LeaveBehind(const SpawnerSockets& sockets) {
  if (!CloseAllBut({0, 1, 2, sockets.start.get(), sockets.look.get()})) {
    return std::unexpected(Error("close_range", "spawner", errno));
  }
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return std::unexpected(Error("open", "/dev/null", errno));
  if (dup2(null.get(), STDIN_FILENO) < 0 || dup2(null.get(), STDOUT_FILENO) < 0) {
    return std::unexpected(Error("dup2", "/dev/null", errno));
  }
  return {};
}

class Server {
 public:
  Server(const SpawnerSockets& sockets, const SpawnerLoads& loads)
      : sockets_(sockets), loads_(loads) {}

  int Run() {
    const int status = Serve();
    if (own_.IsEmpty()) return status;
    const Result<Bounds> bounds = BoundsIn(*loaded_);
    if (bounds) own_.RemoveEmpty(bounds->state);
    return status;
  }

 private:
  int Serve() {
    Load(true);
    for (;;) {
      pollfd events[] = {{sockets_.start.get(), POLLIN, 0},
                         {loader_ ? loader_->ended() : sockets_.look.get(), POLLIN, 0}};
      const int ready = poll(events, 2, -1);
      Reap();
      if (ready < 0 && errno != EINTR) return 1;
      if (ready <= 0) continue;
      if (events[1].revents != 0) {
        if (loader_) {
          OnLoaded();
        } else if (!OnLook()) {
          return 0;
        }
      }
      if (events[0].revents != 0 && !OnStart()) return 0;
      // Nobody may ask again for days, and one machine has as many of us as it has tenants.
      malloc_trim(0);
    }
  }

  // What a loader has left behind comes to us, and not to the server.
  void Reap() const {
    siginfo_t info{};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
      if (loader_ && info.si_pid == loader_->pid()) return;
      waitpid(info.si_pid, nullptr, 0);
      info = {};
    }
  }

  // What the files have now; at the start bounds, too, since the server waits for them.
  void Load(bool bounds) {
    const char* const name = "policy";
    Result<UniqueFd> file = EmptyMemfd(name);
    read_ = file ? *std::move(file) : UniqueFd();
    takes_ = bounds;
    Begin(bounds ? &Server::OnBounds : &Server::OnPolicy, [=, this]() -> Result<std::string> {
      PA_TRY(const ServerPolicy policy, loads_.policy());
      PA_TRY_VOID(WriteSealed(read_.get(), name, Pack(policy)));
      if (!bounds) return "";
      PA_TRY(const Bounds found, loads_.bounds(policy, {}));
      return Pack(found);
    });
  }

  // Of the policy in force, and of one directory more; or of the one that was read, which they put
  // in force.
  void FindBounds(std::optional<std::string> directory) {
    asked_ = true;
    takes_ = !directory;
    next_ = directories_;
    if (directory) next_.push_back(*std::move(directory));
    if (next_.size() > kMaxDirectories) next_.erase(next_.begin());
    Begin(&Server::OnBounds, [this]() -> Result<std::string> {
      const UniqueFd& file = takes_ ? read_ : policy_;
      PA_TRY(ServerPolicy policy, PackedIn<ServerPolicy>(file.get(), "policy"));
      // Once it is chosen, the server keeps it.
      if (const Result<Bounds> before = BoundsIn(*loaded_)) policy.tmp_base = before->tmp_base;
      PA_TRY(const Bounds found, loads_.bounds(policy, next_));
      return Pack(found);
    });
  }

  void ReadIdentity() {
    Begin(&Server::OnIdentity, [this]() -> Result<std::string> {
      PA_TRY(const Bounds bounds, BoundsIn(*loaded_));
      if (!bounds.identity) return Pack(GitIdentityFound());
      return Pack(FindGitIdentity(bounds.ceiling.home, bounds.ceiling.config_home));
    });
  }

  void Begin(void (Server::*then)(Loaded), const std::function<Result<std::string>()>& work) {
    then_ = then;
    auto loader = Loader::Start(work);
    if (loader) {
      loader_ = *std::move(loader);
    } else {
      (this->*then_)({UniqueFd(), std::strerror(loader.error())});
    }
  }

  void OnLoaded() {
    Loaded loaded = loader_->Take();
    loader_.reset();
    (this->*then_)(std::move(loaded));
  }

  void OnPolicy(Loaded loaded) {
    if (loaded.file) return Send(sockets_.look.get(), {}, "", read_.get());
    read_.reset();
    Send(sockets_.look.get(), {.sys_errno = EIO}, loaded.error);
  }

  // What could not be read leaves what was.
  void OnBounds(Loaded loaded) {
    const std::string error = loaded.error;
    if (loaded.file) {
      directories_ = next_;
      if (takes_) policy_ = std::move(read_);
    }
    if (loaded.file || !loaded_) loaded_ = std::move(loaded);
    if (!std::exchange(asked_, false)) return;
    const Result<Bounds> bounds = BoundsIn(*loaded_);
    if (!error.empty() || !bounds) {
      return Send(sockets_.look.get(), {.sys_errno = EIO},
                  error.empty() ? bounds.error().Message() : error);
    }
    std::vector<std::string> elsewhere;
    for (const auto* found : {&bounds->elsewhere.repositories, &bounds->elsewhere.read}) {
      for (const sandbox::PathGrant& grant : *found) elsewhere.push_back(grant.path);
    }
    Send(sockets_.look.get(), {}, Pack(elsewhere));
  }

  void OnIdentity(Loaded found) {
    Result<std::string> text = std::unexpected(Error("git configuration", found.error, EIO));
    if (found.file) {
      text = ReadFileFrom(found.file.get(), "git configuration", kMaxSpawnerText);
    }
    SendResult(sockets_.look.get(), text);
  }

  struct Request {
    bool gone = false;   // the server
    bool sound = false;  // whole
    SpawnerRequest head;
    std::string text;
    UniqueFd descriptor;
  };

  static Request Receive(int socket) {
    std::string bytes(sizeof(SpawnerRequest) + kMaxSpawnerText, '\0');
    const ReceivedPacket packet = ReceivePacket(socket, bytes, MSG_CMSG_CLOEXEC);
    Request request;
    request.descriptor.reset(packet.count > 0 ? packet.descriptors[0] : -1);
    for (std::size_t i = 1; i < packet.count; ++i) close(packet.descriptors[i]);
    request.gone = packet.size <= 0;
    if (request.gone) return request;
    std::memcpy(&request.head, bytes.data(), sizeof(request.head));
    const auto size = static_cast<std::size_t>(packet.size);
    request.sound =
        size >= sizeof(request.head) && !packet.cut && request.head.magic == SpawnerRequest::kMagic;
    if (request.sound)
      request.text = bytes.substr(sizeof(request.head), size - sizeof(request.head));
    return request;
  }

  // False: the server is gone.
  bool OnLook() {
    Request request = Receive(sockets_.look.get());
    if (request.gone) return false;
    if (!request.sound || !AnswerLook(request)) SendResult(sockets_.look.get(), NotSound());
    return true;
  }

  // False: not a request of this socket.
  bool AnswerLook(Request& request) {
    using enum SpawnerRequest::Kind;
    const SpawnerRequest::Kind kind = request.head.kind;
    if (kind == kIdentity) {
      ReadIdentity();
    } else if (kind == kGit) {
      std::vector<std::string> directories;
      if (!Unpacker(request.text)(directories)) return false;
      SendResult(sockets_.look.get(), GitAtWork(directories));
    } else if (kind == kLoad) {
      Load(false);
    } else if (kind == kTake && read_) {
      FindBounds(std::nullopt);
    } else if (kind == kLook) {
      FindBounds(std::move(request.text));
    } else {
      return false;
    }
    return true;
  }

  // False: the server is gone.
  bool OnStart() {
    const Request request = Receive(sockets_.start.get());
    if (request.gone) return false;
    while (!loaded_) OnLoaded();
    if (!request.sound || !AnswerStart(request)) SendResult(sockets_.start.get(), NotSound());
    return true;
  }

  // False: not a request of this socket.
  bool AnswerStart(const Request& request) {
    using enum SpawnerRequest::Kind;
    const SpawnerRequest::Kind kind = request.head.kind;
    if (kind == kLoad) {
      AnswerBounds();
    } else if (kind == kOpen) {
      Open(request.text);
    } else if (kind == kRemove) {
      Remove(request.text);
    } else if (kind == kStart && request.descriptor && request.head.helper <= Helper::kJanitor) {
      Start(request);
    } else {
      return false;
    }
    return true;
  }

  void AnswerBounds() {
    const Result<Bounds> bounds = BoundsIn(*loaded_);
    const bool first = own_.IsEmpty();
    if (bounds && first) {
      for (const std::string& directory : bounds->directories) own_.Make(directory);
    }
    if (bounds) {
      Send(sockets_.start.get(), {}, "", policy_.get());
    } else {
      Send(sockets_.start.get(), {.sys_errno = EIO}, bounds.error().subject);
    }
    // The server need not wait for the disk.
    if (first) own_.Sync();
  }

  void Open(const std::string& path) {
    const Result<Bounds> bounds = BoundsIn(*loaded_);
    const bool own = bounds && std::ranges::find(bounds->own, path) != bounds->own.end();
    const Result<UniqueFd> file =
        own ? OpenToRead(path) : std::unexpected(Error("open", path, EPERM));
    if (!file) {
      return Send(sockets_.start.get(), {.sys_errno = file.error().sys_errno}, file.error().op);
    }
    Send(sockets_.start.get(), {}, "", file->get());
  }

  void Remove(const std::string& packed) {
    SocketFile socket;
    const Result<Bounds> bounds = BoundsIn(*loaded_);
    const bool ours = Unpacker(packed)(socket) && bounds &&
                      std::ranges::find(bounds->sockets, socket.path) != bounds->sockets.end();
    if (ours) {
      RemoveSocketFile({.fd = {},
                        .address = {.kind = ListenAddress::Kind::kUnix, .path = socket.path},
                        .device = static_cast<dev_t>(socket.device),
                        .inode = static_cast<ino_t>(socket.inode)});
    }
    SendResult(sockets_.start.get(), ours ? Result<std::string>("") : NotSound());
  }

  void Start(const Request& request) {
    const Started started = StartHelper(request.head.helper, request.descriptor.get(),
                                        [this] { return BoundsIn(*loaded_); });
    if (!started.error) return Send(sockets_.start.get(), {.pid = started.pid}, "");
    const int code = started.error->sys_errno == 0 ? EIO : started.error->sys_errno;
    Send(sockets_.start.get(), {.sys_errno = code, .pid = started.pid},
         started.error->op + " " + started.error->subject);
  }

  static Result<std::string> NotSound() { return std::unexpected(Error("", "request", EINVAL)); }

  static void SendResult(int socket, const Result<std::string>& text) {
    if (text) return Send(socket, {}, *text);
    const int code = text.error().sys_errno == 0 ? EIO : text.error().sys_errno;
    Send(socket, {.sys_errno = code}, text.error().subject);
  }

  static void Send(int socket, const SpawnerReply& reply, std::string_view text,
                   int descriptor = -1) {
    std::string bytes(AsBytes(reply).data(), sizeof(reply));
    bytes += text.substr(0, kMaxSpawnerText);
    SendPacket(socket, bytes, {&descriptor, descriptor >= 0 ? 1U : 0U}, MSG_NOSIGNAL);
  }

  const SpawnerSockets& sockets_;
  const SpawnerLoads& loads_;
  UniqueFd policy_;               // in force: a packed ServerPolicy
  UniqueFd read_;                 // the one that was read last, unless it is in force
  std::optional<Loaded> loaded_;  // its bounds; nothing: not yet
  std::vector<std::string> directories_;
  std::vector<std::string> next_;
  std::optional<Loader> loader_;  // while a process reads for us; then `then_` gets what it found
  void (Server::*then_)(Loaded) = nullptr;
  OwnDirectories own_;
  bool takes_ = false;  // the bounds that are looked for put read_ in force
  bool asked_ = false;  // the server waits for bounds
};

}  // namespace

int ServeSpawner(const SpawnerSockets& sockets, const SpawnerLoads& loads) {
  prctl(PR_SET_NAME, "pa-spawner");
  if (!LeaveBehind(sockets)) return 1;
  // To stay would keep somebody from unmounting it.
  if (chdir("/") != 0) return 1;
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  malloc_trim(0);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  // What ends the server ends us: it closes the sockets.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(signal, &ignore, nullptr);
  }
  return Server(sockets, loads).Run();
}

}  // namespace pa
