#include "supervisor/janitor/serve_janitor.h"

#include <fcntl.h>
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

#include "base/file.h"
#include "base/packet.h"
#include "base/try.h"
#include "sandbox/capabilities.h"
#include "sandbox/landlock.h"
#include "sandbox/prepared.h"
#include "sandbox/seccomp_load.h"
#include "supervisor/janitor/janitor_wire.h"

// Shadow memory is more than any limit, and reports need further system calls.
#if defined(__SANITIZE_ADDRESS__)
#define PA_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PA_SANITIZED 1
#endif
#endif

namespace pa {
namespace {

#ifdef PA_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr rlim_t kMemory = 2ull << 30;     // of addresses
constexpr rlim_t kFileBytes = 512u << 20;  // more than kMaxJanitorBytes

// What the process knows before the first order.
struct Trade {
  std::span<const Chore> chores;
  sandbox::SeccompProgram syscalls;
};

// What arrives with one order.
struct Received {
  JanitorPacket packet;
  UniqueFd input;
  UniqueFd answer;
  std::vector<UniqueFd> descriptors;
};

// Nothing: the supervisor is gone, or there is no such socket.
std::optional<Received> Receive(int socket) {
  const auto take = [&](JanitorPacket& into, std::vector<UniqueFd>& descriptors) {
    ReceivedPacket packet;
    bool interrupted = false;  // by a child that has ended
    do {
      packet = ReceivePacket(socket, AsWritableBytes(into), MSG_CMSG_CLOEXEC);
      interrupted = packet.size < 0 && errno == EINTR;
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
    } while (interrupted);
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
  if (first.size() == 2) {
    received.input = std::move(first[0]);
    received.answer = std::move(first[1]);
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

// Nothing else of ours is open to it.
void KeepOnly(const std::vector<int>& descriptors) {
  unsigned next = 0;
  for (const int fd : descriptors) {
    if (const auto keep = static_cast<unsigned>(fd); keep >= next) {
      if (keep > next) close_range(next, keep - 1, 0);
      next = keep + 1;
    }
  }
  close_range(next, ~0u, 0);
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
  Limit(RLIMIT_CPU, static_cast<rlim_t>(received.packet.time_ms / 1000 + 1));
  Limit(RLIMIT_FSIZE, kFileBytes);
  Limit(RLIMIT_CORE, 0);
  if (!kSanitized) Limit(RLIMIT_AS, kMemory);
  if (auto confined = ConfineChore(order->read, order->write, *trade.syscalls); !confined) {
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

void Reply(int socket, int sys_errno, int process) {
  const JanitorReply reply{sys_errno};
  const std::span<const int> descriptors(&process, process >= 0 ? 1 : 0);
  static_cast<void>(SendPacket(socket, AsBytes(reply), descriptors, MSG_NOSIGNAL));
}

void Serve(Received received, const Trade& trade) {
  const bool whole =
      received.input && received.answer && received.descriptors.size() == received.packet.more;
  if (!whole) return Reply(kJanitorFd, EMFILE, -1);
  const pid_t us = getpid();
  const pid_t child = fork();
  if (child == 0) {
    // Whoever kills us ends the chore, which nobody would wait for.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != us) _exit(0);
    std::vector<int> kept = {0, 1, 2, received.input.get(), received.answer.get()};
    for (const UniqueFd& fd : received.descriptors) kept.push_back(fd.get());
    std::ranges::sort(kept);
    KeepOnly(kept);
    Work(std::move(received), trade);
    _exit(0);
  }
  if (child < 0) return Reply(kJanitorFd, errno, -1);
  // Not reaped yet, so the number is its own.
  const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  const int error = process ? 0 : errno;
  if (!process) kill(child, SIGKILL);
  Reply(kJanitorFd, error, process.get());
}

void OnChild(int) {}

}  // namespace

Result<sandbox::SeccompProgram> ChoreSyscalls() {
  return sandbox::CompileSeccomp(sandbox::SeccompProfile::kJanitor, sandbox::Network::kNone, 0);
}

Result<void> ConfineChore(const std::vector<std::string>& read,
                          const std::vector<std::string>& write, std::string_view syscalls) {
  const sandbox::LandlockSupport kernel = sandbox::DetectLandlock();
  if (kernel.abi < 1) return std::unexpected(Error("janitor: landlock", "", kernel.sys_errno));
  sandbox::Confinement confinement;
  for (const std::string& path : read) {
    confinement.paths.push_back(
        {path, sandbox::Access::kRead, "chore", sandbox::Symlinks::kRefuse});
  }
  for (const std::string& path : write) {
    confinement.paths.push_back({path, sandbox::kReadWrite, "chore", sandbox::Symlinks::kRefuse});
  }
  if (kernel.abi >= 2 || write.empty()) {
    PA_TRY(const sandbox::PreparedSandbox prepared, sandbox::PrepareLandlock(confinement));
    PA_TRY_VOID(sandbox::Enforce(prepared.landlock_ruleset.get()));
  }
  if (!kSanitized) PA_TRY_VOID(sandbox::LoadSeccomp(syscalls));
  return {};
}

int ServeJanitor(std::span<const Chore> chores) {
  int type = 0;
  socklen_t length = sizeof(type);
  const bool socket = getsockopt(kJanitorFd, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
  if (!socket || type != SOCK_SEQPACKET) {
    fputs("project-actions: the janitor is started by the server alone\n", stderr);
    return 1;
  }
  struct sigaction action{};
  action.sa_handler = OnChild;  // without SA_RESTART: a wait for orders ends, and reaps
  sigaction(SIGCHLD, &action, nullptr);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return 1;
  }
  if (!sandbox::DropCapabilities()) return 1;
  const Result<sandbox::SeccompProgram> syscalls = ChoreSyscalls();
  if (!syscalls) return 1;
  // What a chore prints nobody reads.
  if (dup2(STDIN_FILENO, STDERR_FILENO) < 0) return 1;
  prctl(PR_SET_NAME, "pa-janitor");
  const Trade trade{chores, *syscalls};
  while (std::optional<Received> received = Receive(kJanitorFd)) Serve(*std::move(received), trade);
  return 0;
}

}  // namespace pa
