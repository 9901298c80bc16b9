#include "worker/launcher.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "sandbox/seccomp_load.h"
#include "worker/build_kind.h"
#include "worker/harden.h"
#include "worker/launch_socket.h"
#include "worker/protocol.h"
#include "worker/reporter.h"
#include "worker/worker.h"

namespace pa::worker {
namespace {

struct Launcher {
  LaunchSocket socket;
  Outcome outcome;
  bool has_program = false;
};

// Who lists processes sees who is who. A failure would be of no consequence.
void SetName(const char* name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

SysResult<void> LoadProgram(std::string_view program) {
  if (!kConfined || program.empty()) return {};
  return sandbox::LoadSeccomp(program);
}

SysResult<void> Succeeded(const SysResult<std::string_view>& result) {
  if (!result) return std::unexpected(result.error());
  return {};
}

bool Prepare(Launcher& launcher) {
  // Both before anything may fail, so that the supervisor can be told. The first of all, so that
  // nothing below can meet a descriptor that it does not know.
  const SysResult<void> opened = launcher.socket.Open();
  char buffer[kMaxLaunchProgram];
  const SysResult<std::string_view> program = launcher.socket.ReceiveProgram(buffer);
  launcher.has_program = program && !program->empty();
  Outcome& outcome = launcher.outcome;
  return Take(outcome, Step::kCloseDescriptors, [&] { return opened; }) &&
         Take(outcome, Step::kReadSpec, [&] { return Succeeded(program); }) &&
         // So that no directory is held that somebody wants to unmount.
         Take(outcome, Step::kWorkingDirectory,
              []() -> SysResult<void> {
                if (chdir("/") == 0) return {};
                return std::unexpected(SysError{"chdir", "/", errno});
              }) &&
         // Out of the supervisor's process group, and every worker that waits with us: what is meant for
         // that group is the supervisor's to judge.
         Take(outcome, Step::kSession,
              []() -> SysResult<void> {
                if (setpgid(0, 0) == 0 || errno == EPERM) return {};
                return std::unexpected(SysError{"setpgid", {}, errno});
              }) &&
         Harden(outcome) &&
         // Last, because it may refuse what the steps before it needed.
         Take(outcome, Step::kSeccomp, [&] { return LoadProgram(*program); });
}

}  // namespace

int RunLauncher() {
  Launcher launcher;
  const bool ready = Prepare(launcher);
  if (!launcher.socket.is_open()) {
    Reporter(-1).SetupFailed(launcher.outcome);
    return kExitSetupFailed;
  }
  SetName("pa-launcher");
  // What failed is the failure of the first worker, and told by it without waiting for an order: for
  // the next there will be a new launcher.
  if (!ready) {
    if (launcher.socket.ForkOne()) Reporter(kControlFd).SetupFailed(launcher.outcome);
    return kExitSetupFailed;
  }
  if (!launcher.socket.Serve()) return 0;
  SetName("pa-worker");
  return RunWorker({.seccomp_loaded = launcher.has_program});
}

}  // namespace pa::worker
