// bystander: a process of the same user that has nothing to do with any call, but secrets.
//
//   bystander SECRET_FILE      prints the address of the secret in its memory, then `signal N` for
//   each
//                              signal that reaches it; ends when its stdin does
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>

namespace {

int Serve(int signals) {
  while (true) {
    pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {signals, POLLIN, 0}};
    if (poll(ready, 2, -1) < 0) return 1;
    if (ready[0].revents != 0) return 0;
    signalfd_siginfo info;
    if (read(signals, &info, sizeof info) == sizeof info)
      std::printf("signal %u\n", info.ssi_signo);
  }
}

}  // namespace

int main(int argc, char** argv) {
  char memory[4096] = {};
  if (argc != 2) return 2;
  int secret = open(argv[1], O_RDONLY);  // stays open: /proc/PID/fd leads to it
  if (secret < 0 || read(secret, memory, sizeof memory - 1) <= 0) return 1;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  // Where Yama lets only ancestors trace, a refusal would otherwise not be the sandbox's.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  std::printf("%jx\n", static_cast<std::uintmax_t>(reinterpret_cast<std::uintptr_t>(memory)));
  return Serve(signalfd(-1, &all, SFD_CLOEXEC));
}
