#include "supervisor/run/orphans.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstddef>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/try.h"

namespace pa {
namespace {

constexpr int kRounds = 100;  // then the loop has its turn
constexpr std::size_t kMaxText = 4u << 20;

bool IsGone(const Error& error) { return error.sys_errno == ENOENT || error.sys_errno == ESRCH; }

// A subreaper's thread, usually but not always the first, gets the orphans (exit.c,
// find_new_reaper). An error is none that says that there are no children: there may be no
// descriptor left.
Result<std::vector<pid_t>> Children() {
  PA_TRY(const std::vector<std::string> threads, ReadNames("/proc/self/task"));
  std::vector<pid_t> children;
  for (const std::string& thread : threads) {
    const Result<std::string> text = ReadFile("/proc/self/task/" + thread + "/children", kMaxText);
    if (!text && IsGone(text.error())) continue;  // that thread has ended
    if (!text) return std::unexpected(text.error());
    std::istringstream list(*text);
    for (pid_t pid = 0; list >> pid;) children.push_back(pid);
  }
  return children;
}

// Every process of a worker's tree has no_new_privs, and none can lose it. A child that has not is
// somebody else's. Zombies have no say any more, and are only reaped.
Result<bool> HasNoNewPrivs(pid_t pid) {
  const Result<std::string> status = ReadFile("/proc/" + std::to_string(pid) + "/status", kMaxText);
  if (!status && IsGone(status.error())) return false;
  if (!status) return std::unexpected(status.error());
  return status->contains("\nNoNewPrivs:\t1\n");
}

}  // namespace

Result<void> Orphans::Adopt() {
  if (adopted_) return {};
  PA_TRY(const std::vector<pid_t> children, Children());
  not_ours_.insert(children.begin(), children.end());
  adopted_ = true;
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  // Whoever executed us may ignore SIGCHLD, which execve keeps and which makes children vanish
  // unwaited.
  struct sigaction action{};
  if (sigaction(SIGCHLD, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
    action.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &action, nullptr);
  }
  return {};
}

// Called where nobody awaits it, and no exception may leave.
bool Orphans::Kill(const std::function<bool(pid_t)>& is_worker) {
  try {
    return Hunt(is_worker);
  } catch (const std::bad_alloc&) {
    return true;  // there may be some, as where there is no descriptor to look
  }
}

bool Orphans::Hunt(const std::function<bool(pid_t)>& is_worker) {
  for (int round = 0; round < kRounds; ++round) {
    bool reaped = false;
    bool dying = false;
    const Result<std::vector<pid_t>> children = Children();
    if (!children) return true;
    for (const pid_t pid : *children) {
      if (not_ours_.contains(pid) || is_worker(pid)) continue;
      const Result<bool> ours = HasNoNewPrivs(pid);
      if (!ours) dying = true;
      if (!ours.value_or(false)) continue;
      // Our child and not reaped, so the number is still its own.
      kill(pid, SIGKILL);
      (waitpid(pid, nullptr, WNOHANG) == pid ? reaped : dying) = true;
    }
    // One that is reaped may just have given us its children: look again at once.
    if (!reaped) return dying;
  }
  return true;
}

}  // namespace pa
