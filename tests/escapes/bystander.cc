// bystander: a process of the same user that has nothing to do with any call, but secrets.
//
//   bystander SECRET_FILE HOOK SERVERS
//
// It prints the address of the secret in its memory, then `signal N` for each signal that reaches
// it, and ends when its stdin does. Meanwhile it is the user's git, which executes HOOK as soon as
// there is one, and the user's editor, which takes over what SERVERS says (here: into `seen`).
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>

namespace {

constexpr int kLookMs = 20;

void Execute(const char* hook) {
  if (access(hook, X_OK) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    execl(hook, hook, nullptr);
    _exit(1);
  }
  waitpid(child, nullptr, 0);
}

void TakeOver(const char* servers) {
  char text[4096];
  const int from = open(servers, O_RDONLY | O_CLOEXEC);
  const ssize_t size = from < 0 ? -1 : read(from, text, sizeof text);
  if (from >= 0) close(from);
  if (size <= 0) return;
  const int to = open("seen", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (to < 0 || write(to, text, static_cast<std::size_t>(size)) != size) return;
  close(to);
}

int Serve(int signals, const char* hook, const char* servers) {
  while (true) {
    pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {signals, POLLIN, 0}};
    const int events = poll(ready, 2, kLookMs);
    if (events < 0) return 1;
    Execute(hook);
    TakeOver(servers);
    if (events == 0) continue;
    if (ready[0].revents != 0) return 0;
    signalfd_siginfo info;
    // Its own child, the hook, is none that somebody sends.
    if (read(signals, &info, sizeof info) == sizeof info && info.ssi_signo != SIGCHLD)
      std::printf("signal %u\n", info.ssi_signo);
  }
}

}  // namespace

int main(int argc, char** argv) {
  char memory[4096] = {};
  if (argc != 4) return 2;
  int secret = open(argv[1], O_RDONLY);  // stays open: /proc/PID/fd leads to it
  if (secret < 0 || read(secret, memory, sizeof memory - 1) <= 0) return 1;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  // Where Yama lets only ancestors trace, a refusal would otherwise not be the sandbox's.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  std::printf("%jx\n", static_cast<std::uintmax_t>(reinterpret_cast<std::uintptr_t>(memory)));
  return Serve(signalfd(-1, &all, SFD_CLOEXEC), argv[2], argv[3]);
}
