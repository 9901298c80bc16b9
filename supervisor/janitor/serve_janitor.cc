#include "supervisor/janitor/serve_janitor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "base/descriptors.h"
#include "base/file.h"
#include "base/packet.h"
#include "base/sanitized.h"
#include "base/try.h"
#include "sandbox/capabilities.h"
#include "sandbox/landlock.h"
#include "sandbox/prepared.h"
#include "sandbox/seccomp_load.h"
#include "supervisor/janitor/janitor_wire.h"

namespace pa {
namespace {

constexpr int kSupervisorIsGone = 3;       // exit status
constexpr rlim_t kCpuSeconds = 1200;       // more than any order's time
constexpr rlim_t kMemory = 2ull << 30;     // of addresses
constexpr rlim_t kFileBytes = 512u << 20;  // more than kMaxJanitorBytes

// What the process knows before the first order.
struct Trade {
  std::span<const Chore> chores;
  ChoreSandbox sandbox;
};

// What arrives with one order.
struct Received {
  JanitorPacket packet;
  UniqueFd input;
  UniqueFd answer;
  UniqueFd done;  // a pipe: a byte says that there is an answer
  std::vector<UniqueFd> descriptors;
};

// Nothing: the supervisor is gone, or there is no such socket.
std::optional<Received> Receive(int socket) {
  const auto take = [&](JanitorPacket& into, std::vector<UniqueFd>& descriptors) {
    ReceivedPacket packet;
    do {
      packet = ReceivePacket(socket, AsWritableBytes(into), MSG_CMSG_CLOEXEC);
    } while (packet.size < 0 && errno == EINTR);
    for (std::size_t i = 0; i < packet.count; ++i) descriptors.emplace_back(packet.descriptors[i]);
    return packet.size == sizeof(into) && into.magic == JanitorPacket::kMagic;
  };
  Received received;
  std::vector<UniqueFd> first;
  if (!take(received.packet, first)) return std::nullopt;
  while (received.descriptors.size() < received.packet.more) {
    JanitorPacket more;
    const std::size_t before = received.descriptors.size();
    if (!take(more, received.descriptors)) return std::nullopt;
    if (received.descriptors.size() == before) break;  // there was no room for them
  }
  if (first.size() == 3) {
    received.input = std::move(first[0]);
    received.answer = std::move(first[1]);
    received.done = std::move(first[2]);
  }
  return received;
}

// The header last: without it there is no answer.
void Answer(int fd, JanitorAnswer header, std::string_view bytes) {
  header.size = bytes.size();
  if (lseek(fd, sizeof(header), SEEK_SET) < 0 || !WriteAll(fd, bytes)) return;
  if (lseek(fd, 0, SEEK_SET) < 0) return;
  static_cast<void>(WriteAll(fd, {AsBytes(header).data(), sizeof(header)}));
}

void Limit(int resource, rlim_t most) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return;
  limit.rlim_max = std::min(limit.rlim_max, most);
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

struct Order {
  std::string chore;
  std::vector<std::string> read;
  std::vector<std::string> write;
  std::string input;
};

Result<Order> ReadOrder(int fd) {
  PA_TRY(std::string text, ReadFileFrom(fd, "order", kMaxJanitorBytes + (1u << 20)));
  const Error wrong("janitor", "order", EBADMSG);
  std::uint64_t size = 0;
  if (text.size() < sizeof(size)) return std::unexpected(wrong);
  std::memcpy(&size, text.data(), sizeof(size));
  if (size > text.size() - sizeof(size)) return std::unexpected(wrong);
  Order order;
  Unpacker unpacker(std::string_view(text).substr(sizeof(size), size));
  if (!unpacker(order.chore, order.read, order.write)) return std::unexpected(wrong);
  order.input = text.substr(sizeof(size) + size);
  return order;
}

void Work(Received received, const Trade& trade) {
  const int answer = received.answer.get();
  const auto refuse = [&](const Error& error) {
    Answer(answer, {JanitorAnswer::State::kNotConfined, error.sys_errno, 0}, error.Message());
  };
  const Result<Order> order = ReadOrder(received.input.get());
  if (!order) return refuse(order.error());
  const auto chore = std::ranges::find(trade.chores, order->chore, &Chore::name);
  if (chore == trade.chores.end()) return refuse(Error("janitor", order->chore, ENOSYS));
  if (auto confined = ConfineChore(order->read, order->write, trade.sandbox); !confined) {
    return refuse(confined.error());
  }
  std::vector<int> descriptors;
  for (const UniqueFd& fd : received.descriptors) descriptors.push_back(fd.get());
  try {
    Answer(answer, {JanitorAnswer::State::kDone, 0, 0}, chore->run(order->input, descriptors));
  } catch (const std::bad_alloc&) {
    Answer(answer, {JanitorAnswer::State::kOutOfMemory, ENOMEM, 0}, "");
  }
}

void Reply(const Received& received, int sys_errno, int process) {
  const JanitorReply reply{received.packet.number, sys_errno};
  const std::span<const int> descriptors(&process, process >= 0 ? 1 : 0);
  static_cast<void>(SendPacket(kJanitorFd, AsBytes(reply), descriptors, MSG_NOSIGNAL));
}

// A process that waits for the next order and does it. `taken` is written to as soon as it has one.
[[noreturn]] void DoNext(const Trade& trade, const UniqueFd& taken) {
  std::optional<Received> received = Receive(kJanitorFd);
  if (!received) _exit(kSupervisorIsGone);
  static_cast<void>(WriteAll(taken.get(), "t"));
  prctl(PR_SET_NAME, "pa-chore");
  const bool whole = received->input && received->answer && received->done &&
                     received->descriptors.size() == received->packet.more;
  const UniqueFd self(static_cast<int>(whole ? syscall(SYS_pidfd_open, getpid(), 0) : -1));
  const int error = whole ? errno : EMFILE;
  Reply(*received, self ? 0 : error, self.get());
  if (!self) _exit(0);
  std::vector<int> kept = {
      0, 1, 2, received->input.get(), received->answer.get(), received->done.get()};
  for (const UniqueFd& fd : received->descriptors) kept.push_back(fd.get());
  if (!CloseAllBut(std::move(kept))) _exit(1);
  const int done = received->done.get();
  Work(std::move(*received), trade);
  static_cast<void>(WriteAll(done, "d"));
  _exit(0);
}

// Nothing: there can be none.
std::optional<pid_t> ForkNext(const Trade& trade, const UniqueFd& taken) {
  const pid_t us = getpid();
  const pid_t child = fork();
  if (child != 0) return child > 0 ? std::optional(child) : std::nullopt;
  // Before all else: whoever looks at what has ended can tell us from the janitor.
  prctl(PR_SET_NAME, "pa-next-chore");
  // Whoever kills us ends the chore, which nobody would wait for.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != us) _exit(0);
  // Before the order, which need not wait for it either.
  Limit(RLIMIT_CPU, kCpuSeconds);
  Limit(RLIMIT_FSIZE, kFileBytes);
  Limit(RLIMIT_CORE, 0);
  if (!kSanitized) Limit(RLIMIT_AS, kMemory);
  if (!ConfineToFiles(trade.sandbox)) _exit(0);
  DoNext(trade, taken);
}

void OnChild(int) {}

// Reaps those that have ended; how `next` has, or nothing.
std::optional<int> Reap(pid_t next) {
  std::optional<int> ended;
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == next) ended = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  }
  return ended;
}

// Until there is something to read, a child has ended, or the time is over. SIGCHLD is blocked but
// for this wait, so none is missed.
void Wait(int fd, const timespec* time) {
  sigset_t none;
  sigemptyset(&none);
  pollfd readable{fd, POLLIN, 0};
  ppoll(&readable, 1, time, &none);
}

// One process waits always, so that an order need not wait for a fork(2).
int Serve(const Trade& trade) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) return 1;
  const UniqueFd read_end(fds[0]);
  const UniqueFd taken(fds[1]);
  for (;;) {
    const std::optional<pid_t> next = ForkNext(trade, taken);
    if (!next) return 1;  // the supervisor starts another one, which may have more luck
    for (;;) {
      char byte = 0;
      if (read(read_end.get(), &byte, 1) == 1) break;
      const std::optional<int> ended = Reap(*next);
      if (ended == kSupervisorIsGone) return 0;
      if (ended) break;  // it was killed before it had an order, or has done it already
      Wait(read_end.get(), nullptr);
    }
    // Two that wait would each take a part of the next order.
    for (char byte = 0; read(read_end.get(), &byte, 1) == 1;) {
    }
    // A call that has just been answered goes on now: it has the processors first, unless there is
    // another order.
    constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 15'000'000};
    Wait(kJanitorFd, &kPause);
  }
}

}  // namespace

Result<ChoreSandbox> PrepareChores() {
  const sandbox::LandlockSupport kernel = sandbox::DetectLandlock();
  if (kernel.abi < 1) return std::unexpected(Error("landlock", "janitor", kernel.sys_errno));
  PA_TRY(sandbox::SeccompProgram program,
         sandbox::CompileSeccomp(sandbox::SeccompProfile::kJanitor, sandbox::Network::kNone, 0));
  return ChoreSandbox{kernel.abi, std::move(program)};
}

Result<void> ConfineToFiles(const ChoreSandbox& by) {
  if (!kSanitized) PA_TRY_VOID(sandbox::LoadSeccomp(*by.syscalls));
  return {};
}

Result<void> ConfineChore(const std::vector<std::string>& read,
                          const std::vector<std::string>& write, const ChoreSandbox& by) {
  sandbox::Confinement confinement;
  for (const std::string& path : read) {
    confinement.paths.push_back(
        {path, sandbox::Access::kRead, "chore", sandbox::Symlinks::kRefuse});
  }
  for (const std::string& path : write) {
    confinement.paths.push_back({path, sandbox::kReadWrite, "chore", sandbox::Symlinks::kRefuse});
  }
  if (by.landlock_abi >= 2 || write.empty()) {
    PA_TRY(const sandbox::PreparedSandbox prepared,
           sandbox::PrepareLandlock(confinement, by.landlock_abi));
    PA_TRY_VOID(sandbox::Enforce(prepared.landlock_ruleset.get()));
  }
  return {};
}

int ServeJanitor(const std::vector<Chore>& chores) {
  int type = 0;
  socklen_t length = sizeof(type);
  const bool socket = getsockopt(kJanitorFd, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
  if (!socket || type != SOCK_SEQPACKET) {
    fputs("project-actions: the janitor is started by the server alone\n", stderr);
    return 1;
  }
  struct sigaction action{};
  action.sa_handler = OnChild;
  sigaction(SIGCHLD, &action, nullptr);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return 1;
  }
  if (!sandbox::DropCapabilities()) return 1;
  const Result<ChoreSandbox> sandbox = PrepareChores();
  if (!sandbox) return 1;
  // What a chore prints nobody reads.
  if (dup2(STDIN_FILENO, STDERR_FILENO) < 0) return 1;
  prctl(PR_SET_NAME, "pa-janitor");
  return Serve({chores, *sandbox});
}

}  // namespace pa
