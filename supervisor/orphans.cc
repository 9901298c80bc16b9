#include "supervisor/orphans.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace pa {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 100;  // then the loop has its turn

// A subreaper's thread, usually but not always the first, gets the orphans (exit.c,
// find_new_reaper).
std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const fs::directory_entry& thread : fs::directory_iterator("/proc/self/task", ignored)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t pid = 0; list >> pid;) children.push_back(pid);
  }
  return children;
}

// Every process of a worker's tree has no_new_privs, and none can lose it. A child that has not is
// somebody else's. Zombies have no say any more, and are only reaped.
bool HasNoNewPrivs(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("NoNewPrivs:")) return line.ends_with("1");
  }
  return false;
}

}  // namespace

void Orphans::Adopt() {
  if (std::exchange(adopted_, true)) return;
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  // Whoever executed us may ignore SIGCHLD, which execve keeps and which makes children vanish
  // unwaited.
  struct sigaction action{};
  if (sigaction(SIGCHLD, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
    action.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &action, nullptr);
  }
  for (const pid_t pid : Children()) not_ours_.insert(pid);
}

bool Orphans::Kill(const std::function<bool(pid_t)>& is_worker) {
  for (int round = 0; round < kRounds; ++round) {
    bool reaped = false;
    bool dying = false;
    for (const pid_t pid : Children()) {
      if (not_ours_.contains(pid) || is_worker(pid) || !HasNoNewPrivs(pid)) continue;
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
