// A worker that misbehaves on order, for the tests of the Runner: the command's first argument says
// how. It confines nothing and must run nothing.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/packet.h"
#include "worker/launch_socket.h"
#include "worker/spec.h"
#include "worker/status.h"

namespace {

using pa::worker::EndReason;
using pa::worker::StatusKind;
using pa::worker::WorkerStatus;
using Words = std::vector<std::string>;

void Send(const void* bytes, std::size_t size) {
  (void)send(pa::worker::kControlFd, bytes, size, MSG_NOSIGNAL);
}

void Ended(EndReason reason, std::uint32_t denied_attempts = 0) {
  WorkerStatus status;
  status.kind = StatusKind::kEnded;
  status.reason = reason;
  status.exit_code = reason == EndReason::kExited ? 0 : -1;
  status.tmp_clean = 1;
  status.probe_tried = status.probe_denied = denied_attempts;
  Send(&status, sizeof status);
}

[[noreturn]] void Forever() {
  for (;;) pause();
}

void Echo(const Words& words) {
  for (std::size_t i = 2; i < words.size(); ++i) (void)pa::WriteAll(STDOUT_FILENO, words[i] + "\n");
  Ended(EndReason::kExited);
}

void Silent(const Words&) { _exit(7); }

void Garbage(const Words&) {
  Send("garbage", 7);
  Forever();
}

// A descriptor for which nobody has asked.
[[noreturn]] void Give(const WorkerStatus& status) {
  const int descriptor = STDIN_FILENO;
  pa::SendPacket(pa::worker::kControlFd, pa::AsBytes(status), {&descriptor, 1}, MSG_NOSIGNAL);
  Forever();
}

void Gives(const Words&) { Give({.kind = StatusKind::kGiven}); }

void GivesAtItsEnd(const Words&) {
  Give({.kind = StatusKind::kEnded, .reason = EndReason::kExited, .tmp_clean = 1});
}

void Never(const Words&) {
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  sigaction(SIGTERM, &action, nullptr);
  (void)pa::WriteAll(STDOUT_FILENO, "partial\n");
  Forever();
}

void HangsUp(const Words&) {
  close(pa::worker::kControlFd);
  Forever();
}

void DiesSlowly(const Words&) {
  close(pa::worker::kControlFd);
  usleep(100'000);
  raise(SIGKILL);
}

void Lingers(const Words&) {
  Ended(EndReason::kExited);
  Forever();
}

void WaitsForCancel(const Words&) {
  (void)pa::WriteAll(STDOUT_FILENO, "partial\n");
  pa::worker::AskOrder order{.ask = pa::worker::Ask::kNetwork};
  const ssize_t got = recv(pa::worker::kControlFd, &order, sizeof order, 0);
  if (got == sizeof order && order.ask == pa::worker::Ask::kCancel) Ended(EndReason::kCancelled);
}

void FailsSetup(const Words&) {
  WorkerStatus status;
  status.kind = StatusKind::kSetupFailed;
  status.step = pa::worker::Step::kLandlock;
  status.sys_errno = 1;
  std::snprintf(status.subject, sizeof status.subject, "/srv/x");
  Send(&status, sizeof status);
}

// Somebody outside the tree got hold of stdout: it stays open when all is over. No descendant of a
// worker is without no_new_privs, so nobody will take this one for a part of the tree.
void LosesStdout(const Words&) {
  const pid_t outsider = fork();
  if (outsider == 0) {
    setsid();
    close(pa::worker::kControlFd);
    sleep(20);
    _exit(0);
  }
  dprintf(STDOUT_FILENO, "%d\n", outsider);
  Ended(EndReason::kExited);
}

// Both: it will not leave, and somebody else holds stdout.
void LingersAndLosesStdout(const Words& words) {
  LosesStdout(words);
  Forever();
}

// Killed with its tree still alive: children, and grandchildren in sessions of their own.
void IsKilled(const Words&) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  int said[2];
  if (pipe(said) != 0) return;
  for (int i = 0; i < 3; ++i) {
    if (fork() != 0) continue;
    close(pa::worker::kControlFd);
    if (i > 0) setsid();
    if (i > 1 && fork() > 0) Forever();
    dprintf(STDOUT_FILENO, "%d\n", getpid());
    dprintf(said[1], ".");
    Forever();
  }
  char dot = 0;
  for (int i = 0; i < 3 && read(said[0], &dot, 1) == 1;) ++i;
  raise(SIGKILL);
}

// The first WORDS[2] times it is killed before it has done anything, which is counted in the
// working directory. With WORDS[3] it is long in dying, as the first process of a namespace is.
void IsKilledEarly(const Words& words) {
  const int count = openat(pa::worker::kCwdFd, "killed", O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (lseek(count, 0, SEEK_END) < std::atoi(words[2].c_str())) {
    (void)pa::WriteAll(count, "x");
    lseek(pa::worker::kSpecFd, 0, SEEK_SET);
    if (words.size() > 3) DiesSlowly(words);
    raise(SIGKILL);
  }
  dprintf(STDOUT_FILENO, "began\n");
  Ended(EndReason::kExited);
}

// Which there are, and what the working directory and the ruleset are.
void ListsDescriptors(const Words&) {
  for (int fd = 0; fd < 64; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) dprintf(STDOUT_FILENO, "%d ", fd);
  }
  for (const int fd : {STDIN_FILENO, pa::worker::kCwdFd, pa::worker::kRulesetFd}) {
    char target[4096] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    if (readlink(link.c_str(), target, sizeof target - 1) < 0) std::strcpy(target, "none");
    dprintf(STDOUT_FILENO, "%s ", target);
  }
  Ended(EndReason::kExited);
}

int Run() {
  const pa::Result<std::string> bytes =
      pa::ReadFileFrom(pa::worker::kSpecFd, "spec", pa::worker::kMaxSpecBytes);
  if (!bytes) return 1;
  const pa::Result<pa::worker::WorkerSpec> spec = pa::worker::DecodeSpec(*bytes);
  if (!spec) return 1;
  if (spec->action == pa::worker::Action::kProbe) {
    const std::string way = getenv("PA_FAKE_PROBE") != nullptr ? getenv("PA_FAKE_PROBE") : "";
    if (!way.empty()) {
      const int count = openat(pa::worker::kCwdFd, "probes", O_WRONLY | O_CREAT | O_APPEND, 0600);
      (void)pa::WriteAll(count, "x");
    }
    Ended(way == "cancelled" ? EndReason::kCancelled : EndReason::kExited, way.empty() ? 1 : 0);
    return 0;
  }
  if (spec->argv.size() < 2) return 1;
  const std::map<std::string, void (*)(const Words&)> behaviours = {
      {"echo", Echo},
      {"silent", Silent},
      {"garbage", Garbage},
      {"gives", Gives},
      {"gives-at-its-end", GivesAtItsEnd},
      {"never", Never},
      {"hangs-up", HangsUp},
      {"dies-slowly", DiesSlowly},
      {"lingers", Lingers},
      {"cancel", WaitsForCancel},
      {"fails-setup", FailsSetup},
      {"loses-stdout", LosesStdout},
      {"lingers-and-loses-stdout", LingersAndLosesStdout},
      {"is-killed", IsKilled},
      {"is-killed-early", IsKilledEarly},
      {"lists-descriptors", ListsDescriptors},
  };
  const auto behaviour = behaviours.find(spec->argv[1]);
  if (behaviour == behaviours.end()) return 1;
  behaviour->second(spec->argv);
  return 0;
}

// One that could not be made ready, has answered one order, and is killed with the others unread.
[[noreturn]] void AnswerOne(pa::worker::LaunchSocket& socket) {
  if (socket.ForkOne(0)) FailsSetup({});
  _exit(1);
}

}  // namespace

int main() {
  pa::worker::LaunchSocket socket;
  char spec[pa::worker::kMaxLaunchBytes];
  pa::UniqueFd network;
  if (!socket.Open(-1) || !socket.ReceiveSpec(spec, network)) return 1;
  if (getenv("PA_FAKE_ANSWERS_ONE") != nullptr) AnswerOne(socket);
  bool is_worker = false;
  while (socket.is_open() && !is_worker) is_worker = socket.ForkOne(0);
  // Without a leak check, which stops threads: the SIGCONT that every order is followed by undoes
  // that, and the check would wait for ever.
  _exit(is_worker && pa::worker::AwaitOrder() ? Run() : 0);
}
