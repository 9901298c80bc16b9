#include "tests/support/stopped_at.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pa::testing {

bool StoppedAt(int stop, const std::function<void()>& work,
               const std::function<void(pid_t child)>& meanwhile) {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  for (int i = 0; i < stop && WIFSTOPPED(status); ++i) {
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    waitpid(child, &status, 0);
  }
  if (!WIFSTOPPED(status)) return false;
  meanwhile(child);
  ptrace(PTRACE_DETACH, child, nullptr, nullptr);
  waitpid(child, &status, 0);
  return true;
}

}  // namespace pa::testing
