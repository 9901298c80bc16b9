#include "supervisor/run/exiting_workers.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

namespace pa {
namespace {

constexpr std::chrono::milliseconds kLookAgain{5};
constexpr std::chrono::seconds kPatience{1};

bool Reaped(pid_t pid, int options) {
  siginfo_t info{};
  const int code = waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | options);
  return code != 0 || info.si_pid == pid;  // also when somebody else has waited for it (ECHILD)
}

}  // namespace

ExitingWorkers::~ExitingWorkers() {
  for (const Worker& worker : workers_) {
    kill(worker.pid, SIGKILL);  // not reaped, so the number is still its own
    Reaped(worker.pid, 0);
  }
}

void ExitingWorkers::Add(pid_t pid) {
  workers_.push_back({pid, Clock::now()});
  Look();
}

bool ExitingWorkers::Contains(pid_t pid) const {
  return std::ranges::find(workers_, pid, &Worker::pid) != workers_.end();
}

void ExitingWorkers::Look() {
  workers_.remove_if([](const Worker& worker) { return Reaped(worker.pid, WNOHANG); });
  if (workers_.empty()) return;
  for (const Worker& worker : workers_) {
    if (Clock::now() - worker.since > kPatience) kill(worker.pid, SIGKILL);
  }
  timer_.Start(kLookAgain, [this] { Look(); });
}

}  // namespace pa
